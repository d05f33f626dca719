// A thousand models whose names a person would hardly choose: each reads the one before it, all are compiled, built
// and found unchanged by the next run.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { workspace } from '../support/workspace.ts'

const COUNT = 1_000

const shapes: readonly ((i: number) => string)[] = [
  (i) => `Order ${i}`,
  (i) => `größe_${i}`,
  (i) => `MiXeD${i}Case`,
  (i) => `it's ${i}`,
  (i) => `say "${i}"`,
  (i) => `${i}th`,
  (i) => `表_${i}`,
  (i) => `a-b+${i}`,
  (i) => `-- ${i}`,
  (i) => `/* ${i} */`.replaceAll('/', '|'),
  (i) => `$${i}$`,
  (i) => `%41 ${i};`,
  (i) => `😀${i}`,
  (i) => `{${i}}[x]`,
  (i) => `é`.normalize('NFD') + i,
]
const reserved = [
  'select',
  'from',
  'table',
  'order',
  'group',
  'where',
  'union',
  'all',
  'default',
  'user',
  'natural',
  'lateral',
  'pivot',
  'qualify',
  'null',
  'true',
]
const schemas = ['Select', 'my schema', 'straße', `o'clock`, 'x"y', '1st']

const nameOf = (i: number) => ({
  schema: schemas[i % schemas.length]!,
  table: i < reserved.length ? reserved[i]! : shapes[i % shapes.length]!(i),
})
const quoted = (...names: readonly string[]) =>
  names.map((name) => `"${name.replaceAll('"', '""')}"`).join('.')
/** The column too is named like the model. */
const columnOf = (i: number) => quoted(nameOf(i).table)

function textOf(i: number): string {
  if (i === 0) return `SELECT 0 AS ${columnOf(0)}`
  const { schema, table } = nameOf(i - 1)
  return `-- @kind: ${i % 7 === 0 ? 'view' : 'table'}
-- @check: not_null(${columnOf(i)})
-- @check: ${columnOf(i)} = ${i}
SELECT ${columnOf(i - 1)} + 1 AS ${columnOf(i)} FROM ${quoted(schema, table)} -- ${table}`
}

test(`${COUNT} models with odd names`, async () => {
  const files = Array.from({ length: COUNT }, (_, i): [string, string] => {
    const { schema, table } = nameOf(i)
    return [`models/${schema}/${table}.sql`, textOf(i)]
  })
  assert.is(new Set(files.map(([path]) => path)).size, COUNT)
  await using space = await workspace({ 'eider.yml': 'name: odd\n', ...Object.fromEntries(files) })
  const first = await space.ok(['run', '--quiet'])
  assert.match(first.stdout, /Z 1,000 built/)
  const second = await space.ok(['run', '--quiet'])
  assert.match(second.stdout, /Z 1,000 unchanged/)
  const path = space.path('.eider/warehouse.duckdb')
  await using database = await Database.open({ path, readOnly: true, threads: 1 })
  await using connection = await database.connect()
  const rows = await connection.rows(sql`
    SELECT schema_name, table_name FROM duckdb_tables() WHERE schema_name <> '_eider'
    UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal`)
  const found = rows.map((row) => `${row['schema_name'] as string}.${row['table_name'] as string}`)
  const expected = Array.from({ length: COUNT }, (_, i) => `${nameOf(i).schema}.${nameOf(i).table}`)
  assert.equal(found.toSorted(), expected.toSorted())
  const last = nameOf(COUNT - 1)
  const row = await connection.row(sql`SELECT * FROM ${sql.ident(last.schema, last.table)}`)
  assert.equal(row, { [last.table]: COUNT - 1 })
})

test.run()
