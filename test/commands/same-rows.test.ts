// A table of what lies outside of the warehouse is read again on a mere suspicion: where its rows are those of before, nothing
// is built of it, and nothing is published.

import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { columnType } from '../../src/core/relation.ts'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { printOf } from '../../src/pipeline/changes/row-prints.ts'
import { catalogStates } from '../support/catalog-states.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const CONFIG = `name: s
sources:
  crm:
    database: data/crm.duckdb
    tables:
      orders:
`

const ORDERS = '-- @expose id\n-- @check: amount >= 0\nSELECT id, amount FROM crm.orders\n'

const FILES = {
  'eider.yml': CONFIG,
  'models/core/orders.sql': ORDERS,
  'models/core/clock.sql':
    "-- @kind: view\nSELECT id, amount FROM core.orders WHERE now() > TIMESTAMP '2020-01-01'\n",
  'models/mart/sum.sql':
    '-- @expose n\nSELECT count(*) AS n, sum(amount)::BIGINT AS amount FROM core.orders\n',
  'models/mart/seen.sql': '-- @expose id\nSELECT id, amount FROM core.clock\n',
  'models/mart/last.sql': 'SELECT max(id) AS id FROM mart.seen\n',
}

async function change(space: Workspace, ...statements: readonly Sql[]): Promise<void> {
  await using database = await Database.open({ path: space.path('data/crm.duckdb') })
  await using connection = await database.connect()
  for (const statement of statements) await connection.run(statement)
}

async function shop(): Promise<Workspace> {
  const space = await workspace(FILES)
  await space.write('data/readme', '')
  await change(space, sql`CREATE TABLE orders AS FROM (VALUES (1, 10), (2, 20)) t(id, amount)`)
  return space
}

interface Event {
  readonly event: string
  readonly model?: string
  readonly status?: string
  readonly because?: string
  readonly rows?: number
  readonly snapshot?: string
  readonly changes?: Readonly<Record<string, unknown>>
}

async function run(space: Workspace, ...args: readonly string[]) {
  const { stdout } = await space.ok(['run', '--json', ...args])
  const events = stdout
    .split('\n')
    .filter((text) => text.startsWith('{'))
    .map((text) => JSON.parse(text) as Event)
  const models = events.filter(({ event }) => event === 'model-finished')
  return {
    did: Object.fromEntries(
      models.map(({ model, status, because }) => [model!, status === 'built' ? because : status]),
    ),
    of: (name: string) => models.find(({ model }) => model === name)!,
    isPublished: events.some(({ event }) => event === 'published'),
  }
}

async function rowsOf(space: Workspace, name: string): Promise<readonly unknown[]> {
  const { stdout } = await space.ok(['query', `FROM ${name} ORDER BY ALL`, '--json'])
  return stdout
    .split('\n')
    .filter((text) => text.startsWith('{'))
    .map((text) => JSON.parse(text) as unknown)
}

async function published(space: Workspace) {
  const text = await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8')
  const { id } = JSON.parse(text) as { id: string }
  const states = await catalogStates(space)
  return { id, freshAt: states['core.orders']!.fresh_at! }
}

const UNCHANGED = {
  'core.clock': 'volatile',
  'core.orders': 'file data/crm.duckdb changed',
  'mart.last': 'unchanged',
  'mart.seen': 'upstream core.clock changed',
  'mart.sum': 'unchanged',
}

test('what reads a table with the rows of before is up to date, and the published state stays and is fresh', async () => {
  await using space = await shop()
  await run(space)
  const first = await published(space)
  // Another table of the file, and the same rows in another order.
  await change(
    space,
    sql`CREATE TABLE other AS FROM range(1000)`,
    sql`CREATE OR REPLACE TABLE orders AS FROM orders ORDER BY id DESC`,
  )
  const second = await run(space)
  assert.equal(second.did, UNCHANGED)
  assert.is(second.isPublished, false)
  const { rows, changes } = second.of('core.orders')
  const { definition: _, ...counts } = changes!
  assert.is(rows, 2)
  assert.equal(counts, { way: 'update', rows_in: 0, rows_changed: 0, rows_out: 0, rows_after: 2 })
  const after = await published(space)
  assert.is(after.id, first.id)
  assert.ok(after.freshAt > first.freshAt, 'the rows were looked at now')
  await change(space, sql`CREATE TABLE third (i INTEGER)`)
  assert.match((await space.ok(['run'])).stdout, /built +core\.orders +2 rows as before, /)
})

test('a row that is another one is published, and so is the one that was there before it', async () => {
  await using space = await shop()
  await run(space)
  const first = await published(space)
  for (const amount of [11, 10]) {
    await change(space, sql`UPDATE orders SET amount = ${sql.value(amount)} WHERE id = 1`)
    const { did, isPublished, of } = await run(space)
    assert.is(did['mart.sum'], 'upstream core.orders changed')
    assert.is(did['mart.last'], 'upstream mart.seen changed')
    assert.is(of('core.orders').changes!['way'], 'rebuild')
    assert.is(isPublished, true)
    for (const name of ['core.orders', 'mart.seen'])
      assert.equal(await rowsOf(space, name), [
        { id: 1, amount },
        { id: 2, amount: 20 },
      ])
    assert.equal(await rowsOf(space, 'mart.sum'), [{ n: '2', amount: String(amount + 20) }])
  }
  assert.is((await published(space)).id, first.id, 'the same rows')
})

test('another SELECT, another type and another name of a column are others, with the same values', async () => {
  await using space = await shop()
  await run(space)
  await space.write('models/core/orders.sql', `${ORDERS}WHERE id > 0\n`)
  assert.is((await run(space)).did['core.orders'], 'definition changed')
  assert.is((await run(space)).did['core.orders'], 'unchanged', 'noted as built')
  await change(space, sql`ALTER TABLE orders ALTER amount TYPE BIGINT`)
  const typed = await run(space, '--accept', 'core.orders', '--accept', 'mart.seen')
  assert.is(typed.isPublished, true)
  assert.equal(await rowsOf(space, 'core.orders'), [
    { id: 1, amount: '10' },
    { id: 2, amount: '20' },
  ])
})

test('checks are run on rows of before, too', async () => {
  await using space = await shop()
  const checked = ORDERS.replace('amount >= 0', 'references(id, mart.known.id)')
  await space.write('models/core/orders.sql', checked)
  await space.write('data/known.csv', 'id\n1\n2\n')
  await space.write('models/mart/known.sql', "SELECT id FROM read_csv('data/known.csv')\n")
  await run(space)
  await space.write('data/known.csv', 'id\n1\n3\n')
  const { stdout } = await space.ok(['run'], { exitCode: 1 })
  assert.match(stdout, /failed +core\.orders/)
})

test('a full refresh makes anew what has read rows that somebody has changed by hand', async () => {
  await using space = await shop()
  await run(space)
  {
    await using database = await Database.open({ path: space.path('.eider/warehouse.duckdb') })
    await using connection = await database.connect()
    await connection.run(sql`UPDATE core.orders SET amount = 99 WHERE id = 1`)
  }
  await change(space, sql`CREATE TABLE other (i INTEGER)`)
  await run(space)
  assert.equal((await rowsOf(space, 'core.orders'))[0], { id: 1, amount: 10 }, 'from the source')
  const { did } = await run(space, '--full-refresh')
  assert.is(did['mart.sum'], 'full refresh')
  assert.is(did['mart.last'], 'full refresh')
})

const TWO_64 = sql.value(2n ** 64n)

test('rows have one print in whatever order, and another one where a value, a type or a name differs', async () => {
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  const print = async (query: Sql) => (await printOf(connection, query)).print
  const first = await print(sql`FROM (VALUES (1, NULL), (2, 'x'))`)
  assert.is(await print(sql`FROM (VALUES (2, 'x'), (1, NULL))`), first)
  const differ = [
    [sql`FROM (VALUES (1, ''), (2, 'x'))`, sql`FROM (VALUES (1, NULL), (2, 'x'))`],
    [sql`FROM (VALUES (1, 2), (3, 4))`, sql`FROM (VALUES (1, 4), (3, 2))`],
    [sql`FROM (VALUES (1, 2))`, sql`FROM (VALUES (2, 1))`],
    [sql`FROM (VALUES (1), (1))`, sql`FROM (VALUES (1), (1), (1))`],
    [sql`FROM (VALUES (1), (1), (2))`, sql`FROM (VALUES (1), (2), (2))`],
    [sql`SELECT 1::INTEGER AS a`, sql`SELECT 1::BIGINT AS a`],
    [sql`SELECT 1::INTEGER AS a LIMIT 0`, sql`SELECT 1::BIGINT AS a LIMIT 0`],
    [sql`SELECT 1 AS a`, sql`SELECT 1 AS b`],
    [sql`SELECT 1::DECIMAL(5, 1) AS a`, sql`SELECT 1::DECIMAL(6, 2) AS a`],
    [sql`SELECT 0::DOUBLE AS a`, sql`SELECT '-0'::DOUBLE AS a`],
    [sql`SELECT 0::FLOAT AS a`, sql`SELECT '-0'::FLOAT AS a`],
    [sql`SELECT 'NaN'::DOUBLE AS a`, sql`SELECT NULL::DOUBLE AS a`],
    [sql`SELECT {x: 0::DOUBLE} AS a`, sql`SELECT {x: '-0'::DOUBLE} AS a`],
    [sql`SELECT []::INTEGER[] AS a`, sql`SELECT NULL::INTEGER[] AS a`],
    [sql`SELECT ['NULL'] AS a`, sql`SELECT [NULL]::VARCHAR[] AS a`],
    [sql`SELECT INTERVAL '1 month' AS a`, sql`SELECT INTERVAL '30 days' AS a`],
    [sql`SELECT '10:00:00+01'::TIMETZ AS a`, sql`SELECT '09:00:00+00'::TIMETZ AS a`],
    [sql`SELECT 2::HUGEINT * ${TWO_64} + 5 AS a`, sql`SELECT 5::HUGEINT * ${TWO_64} + 2 AS a`],
    [sql`SELECT 'a'::ENUM('a', 'b') AS a`, sql`SELECT 'a'::ENUM('a', 'c') AS a`],
    [sql`SELECT '10'::BIT AS a`, sql`SELECT '010'::BIT AS a`],
    [sql`SELECT 'a' COLLATE NOCASE AS a`, sql`SELECT 'A' COLLATE NOCASE AS a`],
  ] as const
  for (const [one, other] of differ)
    assert.is.not(await print(one), await print(other), `${one.inline()}; ${other.inline()}`)
  for (const type of [
    'UUID',
    'HUGEINT',
    'JSON',
    'VARIANT',
    'MAP(VARCHAR, INTEGER)',
    'GEOMETRY',
    'BIGNUM',
  ])
    assert.ok(
      (await print(sql`SELECT NULL::${sql.type(columnType(type))} AS a`)) !== '',
      `${type} has a print`,
    )
})

test.run()
