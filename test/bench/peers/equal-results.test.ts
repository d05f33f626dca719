// Figures of peers mean nothing where results differ, so a difference of one value must be found.

import { DuckDBInstance } from '@duckdb/node-api'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Workspace, workspace } from '../../support/workspace.ts'
import { compareTables, type Tables } from './compare-tables.ts'
import { compareRows, csvRows } from './equal-rows.ts'

const test = suite('equal results of peers')
const model = { schema: 'main', table: 'rows' }
const SAME = `SELECT i AS id, 'name ' || i AS name, i / 7 AS ratio FROM range(100) AS r(i)`

async function tablesOf(space: Workspace, name: string, query: string): Promise<Tables> {
  const path = space.path(`${name}.duckdb`)
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  await connection.run(`CREATE TABLE rows AS ${query}`)
  connection.closeSync()
  instance.closeSync()
  return {
    attach: (as) => `ATTACH '${path}' AS ${as} (READ_ONLY)`,
    tableOf: ({ schema, table }) => `${schema}.${table}`,
  }
}

/** What the comparison of a table with that of a query says. */
async function said(query: string, other = SAME, expected?: string): Promise<string> {
  await using space = await workspace()
  const both = [
    await tablesOf(space, 'ours', query),
    await tablesOf(space, 'theirs', other),
  ] as const
  return await compareTables(both, [model], expected).then(
    () => 'equal',
    (error: Error) => error.message,
  )
}

test('tables are equal in any order of their rows', async () => {
  assert.is(await said(SAME, `${SAME} ORDER BY id DESC`), 'equal')
})

test('another value, a missing row and a row too many are found', async () => {
  const another = SAME.replace('i / 7', 'if(i = 50, 0, i / 7)')
  assert.is(await said(SAME, another), 'main.rows: 2 rows differ')
  assert.is(await said(SAME, `${SAME} WHERE id <> 50`), 'main.rows: 1 rows differ')
  assert.is(await said(SAME, `${SAME} UNION ALL (${SAME} LIMIT 1)`), 'main.rows: 1 rows differ')
})

test('two empty tables are not equal results', async () => {
  assert.is(await said(`${SAME} WHERE id < 0`, `${SAME} WHERE id < 0`), 'main.rows has no rows')
})

test('two tables that both lack a change are not what was expected', async () => {
  const changed = SAME.replace("'name '", "'other '")
  assert.is(await said(SAME, SAME, changed), 'what was expected: 200 rows differ')
  assert.is(await said(SAME, SAME, SAME), 'equal')
})

const rows = [
  { id: 1, name: 'a "b", c', note: null, total: 5_000_015, flag: true, at: '2020-01-01T00:00:07Z' },
]

test('values in other forms are the same', () => {
  compareRows('rows', rows, [{ ...rows[0], flag: 1, total: '5000015', at: '2020-01-01 00:00:07' }])
  const csv = csvRows(
    'id,name,note,total,flag,at\r\n1,"a ""b"", c",,5000015,1,2020-01-01 00:00:07\r\n',
  )
  compareRows('csv', [{ ...rows[0], flag: 'true' }], csv)
  compareRows('fractions', [{ ratio: 0.1 + 0.2 }], [{ ratio: '0.3' }])
})

for (const [name, other] of Object.entries({
  name: { name: 'a "b", d' },
  note: { note: 'x' },
  total: { total: 5_000_016 },
  flag: { flag: 0 },
  at: { at: '2020-01-01 00:00:08' },
  id: { id: null },
}))
  test(`another ${name} is found`, () => {
    assert.throws(
      () => compareRows('rows', rows, [{ ...rows[0], ...other }]),
      `rows, row 0, ${name}`,
    )
  })

test('another number of rows is found', () => {
  assert.throws(() => compareRows('rows', rows, []), '1 rows and 0 rows')
})

test.run()
