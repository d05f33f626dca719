// Groups that are gone from the SELECT of a merge that reads a part of its input: removed where a change of a table that is
// followed took them, and named where nothing says what did.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const orders = (...rows: readonly string[]) => ['id,day,shop,amount', ...rows].join('\n') + '\n'
const shops = (...rows: readonly string[]) => ['shop,region', ...rows].join('\n') + '\n'
const FIRST = [
  '1,2026-03-01,1,10',
  '2,2026-03-05,1,20',
  '3,2026-03-05,2,30',
  '4,2026-03-07,1,40',
] as const

const merge = (lookback: string) => `-- @kind: merge
-- @unique_key: day, region
-- @incremental: day${lookback}
`

const SUMS = `SELECT o.day, s.region, sum(o.amount)::INTEGER AS amount
FROM x.orders o JOIN x.shops s USING (shop)
GROUP BY ALL
`

const open = () =>
  workspace({
    'eider.yml': 'name: shop\n',
    'seeds/x/orders.csv': orders(...FIRST),
    'seeds/x/shops.csv': shops('1,north', '2,south'),
    'models/mart/daily.sql': merge(' lookback 3 days') + SUMS,
  })

type Space = Awaited<ReturnType<typeof open>>

async function eider(space: Space, ...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await space.ok(args)
  return stdout + stderr
}

async function days(space: Space): Promise<readonly string[]> {
  const asked = 'SELECT * FROM mart.daily ORDER BY day, region'
  const { stdout } = await space.ok(['query', asked, '--format', 'csv'])
  return stdout.trim().split(/\r?\n/).slice(1)
}

test('the last row of a group goes, however old it is', async () => {
  await using space = await open()
  await eider(space, 'run')
  await space.write('seeds/x/orders.csv', orders(FIRST[0], '2,2026-03-05,1,99', FIRST[3]))
  assert.match(await eider(space, 'plan', '--diff'), '1 changed, 1 removed')
  const run = await eider(space, 'run')
  assert.match(run, /built +mart\.daily +2 rows/)
  assert.not.match(run, 'warning')
  assert.equal(await days(space), [
    '2026-03-01,north,10',
    '2026-03-05,north,99',
    '2026-03-07,north,40',
  ])
})

test('a group that a table takes which is not followed is named, and goes with its range', async () => {
  await using space = await open()
  await eider(space, 'run')
  await space.write('seeds/x/shops.csv', shops('1,north', '2,north'))
  assert.match(
    await eider(space, 'plan'),
    'changes of x.shops are not followed: day does not come from there; rows before 2026-03-04 00:00:00 keep what they have, and groups that are gone from the SELECT for such a change stay',
  )
  const named =
    /warning +1 row of the table is of a group that the SELECT no longer gives, and no change that is followed says so: it stays; to remove those of a range: eider run mart\.daily --start VALUE --end VALUE/
  assert.match(await eider(space, 'run'), named)
  assert.ok((await days(space)).includes('2026-03-05,south,30'))
  await eider(space, 'run', 'mart.daily', '--start', '2026-03-05', '--end', '2026-03-06')
  assert.equal(await days(space), [
    '2026-03-01,north,10',
    '2026-03-05,north,50',
    '2026-03-07,north,40',
  ])
})

test('an input that forgets takes no group away', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\nsources:\n  feed: {tables: {orders: {file: feed/orders.csv}}}\n',
    'feed/orders.csv': orders(...FIRST),
    'seeds/x/shops.csv': shops('1,north', '2,south'),
    'models/x/orders.sql': 'SELECT * FROM feed.orders\n',
    'models/mart/daily.sql': merge(' lookback 3 days') + SUMS,
  })
  await eider(space, 'run')
  await space.write('feed/orders.csv', orders(FIRST[3], '5,2026-03-08,1,1'))
  await eider(space, 'run')
  assert.equal(await days(space), [
    '2026-03-01,north,10',
    '2026-03-05,north,20',
    '2026-03-05,south,30',
    '2026-03-07,north,40',
    '2026-03-08,north,1',
  ])
})

test('the first rows of a seed go with their groups', async () => {
  await using space = await open()
  await eider(space, 'run')
  await space.write('seeds/x/orders.csv', orders(FIRST[3], '5,2026-03-08,1,1'))
  await eider(space, 'run')
  assert.equal(await days(space), ['2026-03-07,north,40', '2026-03-08,north,1'])
})

test.run()
