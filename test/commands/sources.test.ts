// Tables of another database and files as sources: read by name, noticed when they change, judged by their age.

import { rm, symlink } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const config = `name: s
sources:
  crm:
    database: data/crm.duckdb
    schema: shop
    tables:
      Customers:
        loaded_at: at
        warn_after: 2 days
        error_after: 1 week
      orders:
  bank:
    tables:
      rates:
        file: data/rates-*.csv
`

const project = {
  'eider.yml': config,
  'data/rates-1.csv': 'currency,rate\nSEK,1.5\n',
  'models/core/customers.sql': '-- @kind: view\nSELECT id, name FROM crm.customers\n',
  'models/core/orders.sql': `-- @kind: merge
-- @unique_key: id
-- @deletes: keep
SELECT o.id, o.amount * r.rate AS amount FROM CRM.orders o, "bank"."rates" r\n`,
  'models/mart/sales.sql':
    '-- @expose id\nSELECT o.id, c.name, o.amount FROM core.orders o JOIN core.customers c USING (id)\n',
  'models/mart/other.sql': 'WITH crm AS (SELECT 1 AS one) SELECT one FROM crm\n',
}

async function change(space: Workspace, ...statements: readonly Sql[]): Promise<void> {
  await using database = await Database.open({ path: space.path('data/crm.duckdb') })
  await using connection = await database.connect()
  for (const statement of statements) await connection.run(statement)
}

/** Customers that were loaded so many hours ago. */
async function sources(hours: number): Promise<Workspace> {
  const space = await workspace(project)
  await change(
    space,
    sql`CREATE SCHEMA shop`,
    sql`CREATE TABLE shop.customers AS SELECT 1 AS id, 'a' AS name, now() - to_hours(${sql.value(hours)}) AS at`,
    sql`CREATE TABLE shop.orders AS SELECT 1 AS id, 10 AS amount`,
    sql`CREATE MACRO shop.not_ours(x) AS x`,
  )
  return space
}

const json = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const build = (space: Workspace, exitCode = 0) => space.ok(['run', '--json'], { exitCode })

/** What became of each model, by name. */
function results(stdout: string): Readonly<Record<string, unknown>> {
  const finished = json(stdout).filter(({ event }) => event === 'model-finished')
  return Object.fromEntries(
    finished.map(({ model, status, because, warnings }) => [
      model as string,
      warnings ?? (status === 'unchanged' ? status : because),
    ]),
  )
}

test('models read sources by name, and see when they change', async () => {
  await using space = await sources(1)
  assert.equal(
    new Set(Object.values(results((await build(space)).stdout))),
    new Set(['first build']),
  )
  const sales = await space.ok(['query', 'FROM mart.sales', '--json'])
  assert.equal(json(sales.stdout), [{ id: 1, name: 'a', amount: 15 }])
  const view = await space.ok(['query', 'FROM core.customers', '--json'])
  assert.equal(json(view.stdout), [{ id: 1, name: 'a' }])
  assert.match((await build(space)).stdout, '"ok":true')
  assert.equal(results((await build(space)).stdout), {
    'core.customers': 'unchanged',
    'core.orders': 'unchanged',
    'mart.other': 'unchanged',
    'mart.sales': 'unchanged',
  })
  await space.write('data/rates-2.csv', 'currency,rate\nSEK,2.5\n')
  await rm(space.path('data/rates-1.csv'))
  assert.equal(results((await build(space)).stdout)['core.orders'], 'file data/rates-*.csv changed')
  await change(space, sql`INSERT INTO shop.orders VALUES (2, 20)`)
  const changed = results((await build(space)).stdout)
  assert.equal(changed['core.orders'], 'file data/crm.duckdb changed')
  assert.equal(changed['mart.other'], 'unchanged')
})

test('changed_by: the readers of a table are built when a row has come, gone or another value, and only then', async () => {
  await using space = await sources(1)
  const by = (column: string) =>
    space.write('eider.yml', config.replace('orders:', `orders: { changed_by: ${column} }`))
  await change(space, sql`ALTER TABLE shop.orders ADD COLUMN seen INTEGER DEFAULT 7`)
  await by('Seen')
  const orders = async () => results((await build(space)).stdout)['core.orders']
  assert.is(await orders(), 'first build')
  assert.is(await orders(), 'unchanged')
  await change(space, sql`UPDATE shop.customers SET name = 'b'`)
  assert.is(await orders(), 'unchanged')
  const changes = [
    sql`INSERT INTO shop.orders VALUES (2, 20, 6), (3, 30, NULL)`,
    sql`UPDATE shop.orders SET amount = 11, seen = 5 WHERE id = 2`,
    sql`DELETE FROM shop.orders WHERE id = 3`,
    sql`DELETE FROM shop.orders`,
  ]
  for (const statement of changes) {
    await change(space, statement)
    assert.is(await orders(), 'source crm.orders changed')
    assert.is(await orders(), 'unchanged')
  }
  await by('sen')
  const { stderr } = await build(space, 1)
  assert.match(stderr, /crm\.orders.*it has no column "sen"/)
  await space.write(
    'eider.yml',
    config.replace('rates-*.csv', 'rates-*.csv\n        changed_by: rate'),
  )
  assert.match(
    (await build(space, 1)).stderr,
    /sources\.bank\.tables\.rates\.changed_by" must be left out: the table is not in a database/,
  )
})

test('a pattern of more files than are read is refused before any is opened', async () => {
  await using space = await workspace({
    'eider.yml': 'name: s\nsources: {logs: {tables: {t: {file: data/*/*.csv}}}}\n',
    'models/core/n.sql': 'SELECT count(*) AS n FROM logs.t\n',
  })
  // Many paths of few files.
  for (let i = 0; i < 320; i++) {
    await space.write(`data/files/${i}.csv`, 'id\n1\n')
    await symlink('files', space.path(`data/more${i}`))
  }
  const { stdout } = await space.ok(['check'], { exitCode: 1 })
  assert.match(stdout, 'data/*/*.csv matches more than 100,000 files, and at most so many are read')
})

test('a misspelt table of a source is told from one of the project', async () => {
  await using space = await sources(1)
  await space.write('models/mart/typo.sql', 'SELECT id FROM crm.order')
  const { stderr } = await space.ok(['run'], { exitCode: 1 })
  assert.match(stderr, /^models\/mart\/typo\.sql:1:16 .*crm\.order.*did you mean "crm\.orders"\?/ms)
})

test('another schema of the same database is another source', async () => {
  await using space = await sources(1)
  await build(space)
  await change(
    space,
    sql`CREATE SCHEMA other`,
    sql`CREATE TABLE other.customers AS SELECT 2 AS id, 'b' AS name, now() AS at`,
    sql`CREATE TABLE other.orders AS FROM shop.orders`,
  )
  await build(space)
  await space.write('eider.yml', config.replace('schema: shop', 'schema: other'))
  const changed = results((await build(space)).stdout)
  assert.equal(changed['core.orders'], 'definition changed')
  const view = await space.ok(['query', 'FROM core.customers', '--json'])
  assert.equal(json(view.stdout), [{ id: 2, name: 'b' }])
})

test('ls, show, the selector and the manifest know sources', async () => {
  await using space = await sources(1)
  const listed = json((await space.ok(['ls', '--json'])).stdout)
  assert.equal(
    listed.filter(({ kind }) => kind === 'source').map(({ model }) => model),
    ['crm.Customers', 'crm.orders', 'bank.rates'],
  )
  assert.match(String(listed[0]!['state']), /^the source crm\.Customers was last loaded at 20/)
  const shown = await space.ok(['show', 'core.orders', '--json'])
  assert.equal(json(shown.stdout)[0]!['sources'], ['bank.rates', 'crm.orders'])
  const source = json((await space.ok(['show', 'crm.customers', '--json'])).stdout)[0]!
  assert.equal(source['downstream'], ['core.customers'])
  const selected = json((await space.ok(['ls', 'source:bank', '--json'])).stdout)
  assert.equal(
    selected.slice(0, -1).map(({ model }) => model),
    ['crm.orders', 'bank.rates', 'core.orders'],
  )
  const { stderr } = await space.ok(['ls', 'source:bonk'], { exitCode: 2 })
  assert.match(stderr, 'did you mean "source:bank"?')
})

for (const { hours, exitCode, says } of [
  { hours: 72, exitCode: 0, says: 'warn_after 2 days' },
  { hours: 200, exitCode: 1, says: 'error_after 1 week' },
  { hours: -48, exitCode: 0, says: 'which is in the future' },
])
  test(`a source that was loaded ${hours} hours ago: ${says}`, async () => {
    await using space = await sources(hours)
    const result = results((await build(space, exitCode)).stdout)
    assert.match(String(result['core.customers']), says)
    assert.is(result['core.orders'], 'first build')
    assert.is(result['mart.other'], 'first build')
    const plan = await space.ok(['plan', '--no-color'], { exitCode })
    assert.match(plan.stdout, says)
  })

test('the database is attached for reading only, and a run leaves it as it is', async () => {
  await using space = await sources(1)
  await space.ok(['run', '--quiet'])
  await using database = await Database.open({ path: space.path('data/crm.duckdb') })
  await using connection = await database.connect()
  const rows = await connection.rows(sql`SELECT schema_name || '.' || table_name AS name
    FROM duckdb_tables() ORDER BY ALL`)
  assert.equal(
    rows.map(({ name }) => name),
    ['shop.customers', 'shop.orders'],
  )
})

test('a database that another process writes says so', async () => {
  await using space = await sources(1)
  await using database = await Database.open({ path: space.path('data/crm.duckdb') })
  await using _connection = await database.connect()
  const { stderr } = await space.ok(['run'], { exitCode: 1 })
  assert.match(stderr, 'eider.yml:3:3 error invalid-source: the source "crm" cannot be read')
  assert.match(stderr, 'another process is writing to it')
})

test('lineage goes back to the columns of tables and files of sources', async () => {
  await using space = await sources(1)
  const { stdout } = await space.ok(['show', 'mart.sales', '--lineage'])
  const expected = [
    'mart.sales, served as mart_sales',
    'id',
    '  core.orders.id',
    '    crm.orders.id  (column of the source)',
    'name',
    '  core.customers.name',
    '    crm.Customers.name  (column of the source)',
    'amount',
    '  core.orders.amount',
    '    crm.orders.amount  (column of the source)',
    '    bank.rates.rate  (column of the source)',
  ]
  assert.equal(stdout.trimEnd().split('\n'), expected)
  const [shown] = json((await space.ok(['show', 'mart.sales', '--lineage', '--json'])).stdout)
  const columns = shown?.['columns'] as readonly { readonly sources: unknown }[]
  assert.equal(columns[2]?.sources, [
    { model: 'bank.rates', column: 'rate' },
    { model: 'crm.orders', column: 'amount' },
  ])
})

test.run()
