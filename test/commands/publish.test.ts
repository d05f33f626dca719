// Rows that somebody has changed in the warehouse with another program reach readers by `eider publish`.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'seeds/raw/orders.csv': 'id,day,total\n1,2026-01-01,10\n2,2026-01-02,20\n3,2026-01-03,30\n',
  'models/core/orders.sql':
    '-- @check: total < 1000\n-- @kind: append\n-- @incremental: day\n-- @expose id\nSELECT id, day, total FROM raw.orders\n',
  'models/core/log.sql': '-- @kind: append\n-- @incremental: day\nSELECT id, day FROM raw.orders\n',
  'models/mart/sum.sql': '-- @expose\nSELECT sum(total) AS total FROM core.orders\n',
  'models/mart/days.sql': 'SELECT count(*) AS n FROM core.log\n',
}

async function byHand(space: Workspace, statement: Sql): Promise<void> {
  await using database = await Database.open({ path: space.path('.eider', 'warehouse.duckdb') })
  await using connection = await database.connect()
  await connection.run(statement)
}

const preview = async (space: Workspace, set: string) =>
  (JSON.parse((await space.ok(['odata', 'preview', set])).stdout) as { value: unknown }).value

const built = (stdout: string) => [...stdout.matchAll(/built +(\S+)/g)].map(([, name]) => name)

test('periods in which rows were changed by hand are built again by what reads them, however old', async () => {
  await using space = await workspace({
    ...files,
    'models/core/daily.sql': `-- @kind: period
-- @period: day of day
-- @expose day
SELECT day, sum(total) AS total FROM raw.orders GROUP BY day
`,
    'models/mart/monthly.sql': `-- @kind: period
-- @period: month of month
-- @expose month
SELECT date_trunc('month', day)::DATE AS month, sum(total)::INTEGER AS total FROM core.daily GROUP BY 1
`,
    'seeds/raw/orders.csv':
      'id,day,total\n1,2026-01-01,10\n2,2026-01-02,20\n3,2026-02-03,30\n4,2026-03-01,40\n',
  })
  await space.ok(['run'])
  await byHand(space, sql`DELETE FROM core.daily WHERE day = '2026-01-01'`)
  await byHand(space, sql`DELETE FROM core.daily WHERE day = '2026-02-03'`)
  await space.ok(['publish', 'core.daily'])
  const plan = await space.ok(['plan', '--no-color'])
  assert.match(plan.stdout, 'changed inputs')
  const run = await space.ok(['run'])
  assert.not.match(run.stdout, 'is not known')
  assert.equal(await preview(space, 'mart_monthly'), [
    { month: '2026-01-01', total: 20 },
    { month: '2026-03-01', total: 40 },
  ])
})

test('what a reader may have read of a change by hand before it was published is not taken for known', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'seeds/raw/a.csv': 'id,day,total\n1,2026-01-01,10\n2,2026-02-01,20\n',
    'seeds/raw/b.csv': 'id,day,total\n1,2026-01-01,5\n2,2026-02-01,6\n',
    'models/core/a.sql':
      '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nSELECT * FROM raw.a\n',
    'models/core/b.sql': '-- @kind: merge\n-- @unique_key: id\nSELECT * FROM raw.b\n',
    'models/mart/daily.sql':
      '-- @kind: period\n-- @period: day of day\nSELECT day, sum(total)::INTEGER AS total FROM (FROM core.a UNION ALL FROM core.b) GROUP BY day\n',
  })
  await space.ok(['run'])
  await byHand(space, sql`UPDATE core.a SET total = 99 WHERE id = 1`)
  await space.write('seeds/raw/b.csv', 'id,day,total\n1,2026-01-01,7\n2,2026-02-01,6\n')
  await space.ok(['run'])
  await byHand(space, sql`UPDATE core.a SET total = 10 WHERE id = 1`)
  await space.ok(['publish', 'core.a'])
  const { stdout, stderr } = await space.ok(['run'])
  assert.match(stdout + stderr, 'is not known')
})

test('a row that was deleted by hand goes from its set at once, and from its readers with the next run', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await byHand(space, sql`DELETE FROM core.orders WHERE id = 2`)
  assert.is(((await preview(space, 'core_orders')) as unknown[]).length, 3)
  const { stdout } = await space.ok(['publish', 'core.orders', '--json'])
  const event = JSON.parse(stdout) as Record<string, unknown>
  assert.equal(
    [event['event'], event['models'], event['changed']],
    ['republished', ['core.orders'], true],
  )
  const rows = (await preview(space, 'core_orders')) as { readonly id: number }[]
  assert.equal(
    rows.map(({ id }) => id),
    [1, 3],
  )
  const run = await space.ok(['run'])
  assert.equal(built(run.stdout), ['mart.sum'])
  assert.equal(await preview(space, 'mart_sum'), [{ total: 40 }])
  assert.equal(built((await space.ok(['run'])).stdout), [])
})

test('a table without a set reaches its readers too, and --all takes every table', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await byHand(space, sql`DELETE FROM core.log WHERE id = 2`)
  const log = await space.ok(['publish', 'core.log'])
  assert.match(log.stdout, /published +core\.log\n1 table, no set has changed/)
  assert.equal(built((await space.ok(['run'])).stdout), ['mart.days'])
  const all = await space.ok(['publish', '--all', '--json'])
  const { models } = JSON.parse(all.stdout) as { readonly models: readonly string[] }
  assert.equal(models.toSorted(), [
    'core.log',
    'core.orders',
    'mart.days',
    'mart.sum',
    'raw.orders',
  ])
})

test('what cannot be published is refused, and readers keep what they have', async () => {
  await using space = await workspace(files)
  const early = await space.ok(['publish', 'core.orders'], { exitCode: 3 })
  assert.match(early.stderr, /there is no warehouse yet/)
  await space.ok(['run'])
  assert.match((await space.ok(['publish'], { exitCode: 2 })).stderr, /name the models/)
  assert.match(
    (await space.ok(['publish', 'core.nothing'], { exitCode: 2 })).stderr,
    /the project has no model core\.nothing/,
  )
  await byHand(space, sql`UPDATE core.orders SET id = 1 WHERE id = 2`)
  const twice = await space.ok(['publish', 'core.orders'], { exitCode: 3 })
  assert.match(twice.stderr, /core\.orders: duplicate keys: id = 1 \(2 rows\)/)
  assert.is(((await preview(space, 'core_orders')) as unknown[]).length, 3)
  assert.equal(built((await space.ok(['run'])).stdout), [], 'nothing was recorded')
  await byHand(space, sql`UPDATE core.orders SET id = 2, total = 1000 WHERE rowid = 1`)
  const wrong = await space.ok(['publish', 'core.orders'], { exitCode: 3 })
  assert.match(wrong.stderr, /models\/core\/orders\.sql:1:4: total < 1000 does not hold for 1 row/)
  await space.write(
    'models/core/orders.sql',
    `${files['models/core/orders.sql']} WHERE total > 15\n`,
  )
  const edited = await space.ok(['publish', 'core.orders'], { exitCode: 2 })
  assert.match(edited.stderr, /core\.orders was edited after it was built/)
})

test.run()
