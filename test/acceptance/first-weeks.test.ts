// Ordinary life after the first days, from outside: events over HTTP, runs, answers of the service. A correction of last
// month, a group that vanishes, a rule that changes, a person who wants to be forgotten; each number before and after.

import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseManifest } from '../../src/core/snapshot.ts'
import { startDaemon } from '../support/daemon-process.ts'
import { sendOrders } from '../support/erase-project.ts'
import { until } from '../support/until.ts'
import {
  ORDERS,
  coreOrders,
  dailyRevenue,
  firstSent,
  order,
  sent,
} from '../support/weeks-of-a-shop.ts'
import { type Running, type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/raw/orders.sql': ORDERS,
  'models/core/orders.sql': coreOrders('amount'),
  'models/mart/daily.sql': `-- @kind: period
-- @period: day of day lookback 3 days
-- @expose day, region
${dailyRevenue()}`,
  'models/mart/daily_merge.sql': `-- @kind: merge
-- @unique_key: day, region
-- @incremental: day lookback 3 days
-- @expose day, region
${dailyRevenue()}`,
  // The same, always made from all rows: what every number has to be.
  'models/mart/daily_table.sql': `-- @expose day, region
${dailyRevenue()}`,
}

const firstOrders = [...firstSent, sent(5, 8, 'west', 60, '2026-11-24')]

const firstDays = [
  '2026-10-10 west 1 20',
  '2026-11-23 east 2 90',
  '2026-11-23 west 1 30',
  '2026-11-24 west 1 60',
]

interface Shop extends AsyncDisposable {
  readonly space: Workspace
  readonly daemon: Running
  send(...orders: readonly object[]): Promise<void>
  eider(...args: readonly string[]): Promise<string>
  /** Of the service, once it shows what was published last; compared with the other models and the sum that clients ask for. */
  days(): Promise<readonly string[]>
  ask(path: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}

async function openShop(): Promise<Shop> {
  const space = await workspace(files)
  const daemon = await startDaemon(space)
  const env = { COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port }
  const eider = async (...args: readonly string[]) => {
    const { stdout, stderr } = await space.ok(args, { env })
    return stdout + stderr
  }
  await sendOrders(space, daemon.url, firstOrders)
  await eider('run')
  const service = await space.start(['serve', '--port', '0', '--quiet'])
  const get = async (path: string) => {
    const answer = await fetch(`${service.url}/${path}`)
    if (answer.status !== 200) throw new Error(`${path}: ${await answer.text()}`)
    return (await answer.json()) as { value: readonly Readonly<Record<string, unknown>>[] }
  }
  const isShown = async () => {
    const { id } = parseManifest(
      await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8'),
    )
    const health = await fetch(`${new URL(service.url).origin}/health`)
    return ((await health.json()) as { readonly snapshot: string }).snapshot === id
  }
  const ask = async (path: string) => (await get(path)).value
  const rowsOf = async (set: string) =>
    (await ask(`${set}?$orderby=day,region`)).map((row) => Object.values(row).join(' '))
  return {
    space,
    daemon,
    send: (...orders) => sendOrders(space, daemon.url, orders),
    eider,
    ask,
    async days() {
      await until(isShown)
      const days = await rowsOf('mart_daily')
      assert.equal(days, await rowsOf('mart_daily_table'))
      assert.equal(days, await rowsOf('mart_daily_merge'))
      const [sum] = await ask('mart_daily?$apply=aggregate(revenue with sum as s)')
      const total = days.reduce((all, day) => all + Number(day.split(' ').at(-1)), 0)
      assert.is(sum?.['s'], total)
      return days
    },
    [Symbol.asyncDispose]: () => space[Symbol.asyncDispose](),
  }
}

test('a correction of last month is in the sums of its day', async () => {
  await using shop = await openShop()
  assert.equal(await shop.days(), firstDays)
  await shop.send(order(1, 7, 'west', 1020, '2026-10-10'))
  await shop.eider('run')
  assert.equal(await shop.days(), ['2026-10-10 west 1 1020', ...firstDays.slice(1)])
  // It is moved to another day: both are made anew.
  await shop.send(order(1, 7, 'west', 1020, '2026-10-12'))
  const plan = await shop.eider('plan')
  assert.match(plan, 'build      mart.daily')
  await shop.eider('run')
  assert.equal(await shop.days(), ['2026-10-12 west 1 1020', ...firstDays.slice(1)])
})

test('a group without rows vanishes, and a cancelled order of an old day too', async () => {
  await using shop = await openShop()
  const cancelled = [
    order(3, 8, 'east', 40, '2026-11-23'),
    order(4, 7, 'east', 50, '2026-11-23'),
  ].map((one) => ({ ...one, status: 'cancelled' }))
  await shop.send(...cancelled)
  await shop.eider('run')
  assert.equal(await shop.days(), [firstDays[0], firstDays[2], firstDays[3]])
  await shop.send({ ...order(1, 7, 'west', 20, '2026-10-10'), status: 'cancelled' })
  await shop.eider('run')
  assert.equal(await shop.days(), [firstDays[2], firstDays[3]])
  // One of them is paid after all.
  await shop.send(order(4, 7, 'east', 55, '2026-11-23'))
  await shop.eider('run')
  assert.equal(await shop.days(), ['2026-11-23 east 1 55', firstDays[2], firstDays[3]])
})

test('a changed rule says which rows keep the old one until they are rebuilt', async () => {
  await using shop = await openShop()
  const totals = async () =>
    (await shop.ask('core_orders?$orderby=order_id')).map((row) => row['total'])
  await shop.space.write('models/core/orders.sql', coreOrders('amount * 2'))
  const older = '4 of 5 rows were made before the rule of'
  assert.match(await shop.eider('plan'), '4 of 5 rows keep an older rule')
  const run = await shop.eider('run')
  assert.match(run, older)
  const mixed = [...firstDays.slice(0, 3), '2026-11-24 west 1 120']
  assert.equal(await shop.days(), mixed)
  assert.equal(await totals(), [20, 30, 40, 50, 120])
  // It is said as long as it is so, also where a run has other things to do.
  await shop.send(order(6, 8, 'east', 1, '2026-11-24'))
  assert.match(await shop.eider('run'), '4 of 6 rows were made before the rule of')
  assert.equal(await shop.days(), [
    ...firstDays.slice(0, 3),
    '2026-11-24 east 1 2',
    '2026-11-24 west 1 120',
  ])
  await shop.eider('run', 'core.orders', '--full-refresh')
  assert.not.match(await shop.eider('run'), 'were made before')
  assert.equal(await shop.days(), [
    '2026-10-10 west 1 40',
    '2026-11-23 east 2 180',
    '2026-11-23 west 1 60',
    '2026-11-24 east 1 2',
    '2026-11-24 west 1 120',
  ])
  assert.equal(await totals(), [40, 60, 80, 100, 120, 2])
})

test('a person who is erased is in no answer and no sum, and comes back with no run', async () => {
  await using shop = await openShop()
  const ofPerson = async () => (await shop.ask('core_orders?$filter=customer_id eq 7')).length
  assert.is(await ofPerson(), 2)
  const left = ['2026-11-23 east 1 40', ...firstDays.slice(2)]
  const erased = await shop.eider('erase', 'raw.orders', 'customer_id = 7')
  assert.match(erased, /erased +core\.orders +2 rows/)
  assert.equal(await shop.days(), left)
  assert.is(await ofPerson(), 0)
  await shop.send(order(6, 8, 'west', 5, '2026-11-24'))
  await shop.eider('run')
  assert.equal(await shop.days(), [...left.slice(0, 2), '2026-11-24 west 2 65'])
  await shop.eider('run', 'core.orders', 'mart.daily', '--full-refresh')
  assert.equal(await shop.days(), [...left.slice(0, 2), '2026-11-24 west 2 65'])
  assert.is(await ofPerson(), 0)
})

test.run()
