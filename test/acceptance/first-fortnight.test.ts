// Two weeks of one shop, day after day in the same project, from outside: events over HTTP, files that others write,
// tokens, a service that is never stopped. Each day has what happened, what eider said, and what clients saw.

import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startDaemon } from '../support/daemon-process.ts'
import { sendOrders } from '../support/erase-project.ts'
import { until } from '../support/until.ts'
import { ORDERS, coreOrders, dailyRevenue, firstSent, order } from '../support/weeks-of-a-shop.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const ANALYST = 'analyst-0123456789abcdef'
const EAST = 'of-the-east-0123456789abcdef'

const hashOf = (token: string) => `sha256:${createHash('sha256').update(token).digest('hex')}`

const settings = (dates: string) => `name: shop
odata:
  tokens:
    - name: analyst
      hash: ${hashOf(ANALYST)}
    - name: east
      hash: ${hashOf(EAST)}
      sets: [core_orders, mart_daily]
      rows:
        core_orders: region = 'east'
        mart_daily: region = 'east'
sources:
  files:
    tables:
      customers:
        file: data/customers.csv
        columns: { credit: DOUBLE }
        csv: { decimal: ',', nulls: [NA]${dates} }
      targets:
        file: data/targets-*.csv
`

const daily = (total = 'total') => `-- @kind: period
-- @period: day of day lookback 3 days
-- @expose day, region
${dailyRevenue(total)}`

const files = {
  'eider.yml': settings(''),
  'data/customers.csv': 'id;name;credit;since\n7;Ada;1,5;13/01/2026\n8;Bo;NA;02/02/2026\n',
  'data/targets-1.csv': 'region,target\neast,100\nwest,90\n',
  'models/raw/orders.sql': ORDERS,
  'models/core/orders.sql': coreOrders('amount'),
  // How an order was, before and after each change.
  'models/core/order_history.sql': `-- @kind: scd2
-- @unique_key: order_id
-- @expose order_id, valid_from
SELECT order_id, customer_id, status FROM core.orders
`,
  'models/core/customers.sql': `-- @kind: merge
-- @unique_key: customer_id
-- @deletes: mirror
-- @expose customer_id
SELECT id AS customer_id, name, credit, since FROM files.customers
`,
  'models/mart/daily.sql': daily(),
  'models/mart/targets.sql': `-- @expose region
SELECT t.*, coalesce(sum(d.revenue), 0)::DECIMAL(12,2) AS revenue
FROM files.targets t LEFT JOIN mart.daily d USING (region)
GROUP BY ALL
`,
}

type Rows = readonly Readonly<Record<string, unknown>>[]

interface Shop extends AsyncDisposable {
  readonly space: Workspace
  readonly send: (...orders: readonly object[]) => Promise<void>
  /** What a command says, after the check that it ends with this code. */
  readonly eider: (args: readonly string[], exitCode?: number) => Promise<string>
  /** A run, after which the service shows what was published. */
  readonly run: (exitCode?: number) => Promise<string>
  readonly ask: (path: string, token?: string) => Promise<Rows>
  /** Rows of a set in the order of their keys, values alone. */
  readonly rows: (set: string, token?: string) => Promise<readonly string[]>
}

async function openShop(): Promise<Shop> {
  const space = await workspace(files)
  const daemon = await startDaemon(space)
  const env = { COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port }
  const eider = async (args: readonly string[], exitCode = 0) => {
    const { stdout, stderr } = await space.ok(args, { env, exitCode })
    return stdout + stderr
  }
  await sendOrders(space, daemon.url, firstSent)
  await eider(['run'])
  const service = await space.start(['serve', '--port', '0', '--quiet'])
  const { origin } = new URL(service.url)
  const headers = (token: string) => ({ Authorization: `Bearer ${token}` })
  const ask = async (path: string, token = ANALYST) => {
    const answer = await fetch(`${service.url}/${path}`, { headers: headers(token) })
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return ((await answer.json()) as { readonly value: Rows }).value
  }
  const state = async () => {
    const answer = await fetch(`${origin}/health`, { headers: headers(ANALYST) })
    return ((await answer.json()) as { readonly snapshot: string }).snapshot
  }
  return {
    space,
    send: (...orders) => sendOrders(space, daemon.url, orders),
    eider,
    async run(exitCode = 0) {
      const said = await eider(['run'], exitCode)
      const published = /published ([0-9a-f]+)/.exec(said)?.[1]
      if (published !== undefined) await until(state, (shown) => shown === published)
      return said
    },
    ask,
    async rows(set, token) {
      return (await ask(set, token)).map((row) => Object.values(row).join(' '))
    },
    [Symbol.asyncDispose]: () => space[Symbol.asyncDispose](),
  }
}

const DAYS = 'mart_daily?$orderby=day,region'
const TARGETS = 'mart_targets?$orderby=region'

test('two weeks of a shop', async () => {
  await using shop = await openShop()
  const { space, send, eider, run, ask, rows } = shop

  // Monday: files and events, and each reader sees what is theirs.
  assert.equal(await rows(DAYS), [
    '2026-10-10 west 1 20',
    '2026-11-23 east 2 90',
    '2026-11-23 west 1 30',
  ])
  assert.equal(await rows(DAYS, EAST), ['2026-11-23 east 2 90'])
  assert.equal(await ask('core_customers?$orderby=customer_id'), [
    { customer_id: 7, name: 'Ada', credit: 1.5, since: '2026-01-13' },
    { customer_id: 8, name: 'Bo', credit: null, since: '2026-02-02' },
  ])
  assert.equal(await rows(TARGETS), ['east 100 90', 'west 90 50'])
  assert.match(await run(), 'unchanged')

  // Tuesday: an order of last month is corrected.
  await send(order(1, 7, 'west', 1020, '2026-10-10'))
  await run()
  assert.is((await rows(DAYS))[0], '2026-10-10 west 1 1020')
  assert.equal(await rows(TARGETS), ['east 100 90', 'west 90 1050'])

  // Wednesday: all orders of a region and day are cancelled, and its group is gone.
  const cancelled = [3, 4].map((id) => ({
    ...order(id, id === 3 ? 8 : 7, 'east', id * 10 + 10, '2026-11-23'),
    status: 'cancelled',
  }))
  await send(...cancelled)
  await run()
  assert.equal(await rows(DAYS), ['2026-10-10 west 1 1020', '2026-11-23 west 1 30'])
  assert.equal(await rows(DAYS, EAST), [])
  assert.equal(await rows(TARGETS), ['east 100 0', 'west 90 1050'])
  const versions = await ask('core_order_history?$filter=order_id eq 3&$orderby=valid_from')
  assert.equal(
    versions.map(({ status }) => status),
    ['paid', 'cancelled'],
  )

  // Thursday: a rule and the name of a column change; nothing is mixed in silence, and no history ends.
  await space.write('models/core/orders.sql', coreOrders('amount * 2'))
  assert.match(await eider(['plan']), /rows? keep an older rule/)
  await run()
  await eider(['run', 'core.orders', '--full-refresh'])
  await space.write('models/core/orders.sql', coreOrders('amount * 2', 'total_eur'))
  const broken = await eider(['check'], 1)
  assert.match(broken, /models\/mart\/daily\.sql:4:\d+/)
  await space.write('models/mart/daily.sql', daily('total_eur'))
  await eider(['mv', 'core.orders.total', 'core.orders.total_eur'])
  const stopped = await run(1)
  assert.match(stopped, 'clients of core_orders would break')
  assert.match(stopped, '1 of 2 rows were made before the rule of')
  assert.equal((await ask('core_orders?$filter=order_id eq 2'))[0]?.['total'], 60)
  await eider(['plan', '--accept', 'core.orders'])
  await eider(['run', 'core.orders', 'mart.daily', '--full-refresh'])
  assert.not.match(await run(), 'were made before')
  assert.equal(
    (await ask('core_orders?$orderby=order_id')).map((row) => row['total_eur']),
    [2040, 60, 80, 100],
  )
  assert.equal(await rows(DAYS), ['2026-10-10 west 1 2040', '2026-11-23 west 1 60'])
  assert.is((await ask('core_order_history?$filter=order_id eq 3')).length, 2)

  // Friday: a person is to be forgotten, by the source too.
  await space.write('data/customers.csv', 'id;name;credit;since\n8;Bo;NA;13/02/2026\n')
  assert.match(
    await eider(['erase', 'raw.orders', 'customer_id = 7']),
    /erased +core\.orders +2 rows/,
  )
  await run()
  for (const set of ['core_orders', 'core_order_history', 'core_customers'])
    assert.equal(await ask(`${set}?$filter=customer_id eq 7`), [], set)
  assert.equal(await rows(DAYS), ['2026-11-23 west 1 60'])
  // The history of everybody else goes on.
  assert.is((await ask('core_order_history?$filter=order_id eq 3')).length, 2)

  // Saturday: sources change. What can be read in two ways is refused, and what is served stays.
  await space.write('data/targets-2.csv', 'region,target,currency\nnorth,10,EUR\n')
  await space.write('data/customers.csv', 'id;name;credit;since\n8;Bo;NA;03/04/2026\n')
  const refused = await run(1)
  assert.match(refused, 'data/targets-2.csv')
  assert.match(refused, 'currency')
  assert.match(refused, 'date_format')
  assert.equal(await rows(TARGETS), ['east 100 0', 'west 90 60'])
  assert.equal((await ask('core_customers'))[0]?.['since'], '2026-02-13')

  // Monday again: both are said, and the second week begins.
  await rm(space.path('data/targets-2.csv'))
  await space.write('data/targets-1.csv', 'region,target\neast,100\nwest,many\n')
  await space.write('eider.yml', settings(", date_format: '%d/%m/%Y'"))
  const retyped = await run(1)
  assert.match(retyped, 'property target retyped from')
  assert.equal(await rows(TARGETS), ['east 100 0', 'west 90 60'])
  assert.equal((await ask('core_customers'))[0]?.['since'], '2026-04-03')
  await space.write('data/targets-1.csv', 'region,target\neast,100\nwest,95\n')
  await send(order(5, 8, 'east', 5, '2026-11-30'), order(2, 8, 'west', 31, '2026-11-23'))
  await run()
  assert.equal(await rows(DAYS), ['2026-11-23 west 1 62', '2026-11-30 east 1 10'])
  assert.equal(await rows(DAYS, EAST), ['2026-11-30 east 1 10'])
  assert.equal(await rows(TARGETS), ['east 100 10', 'west 95 62'])
  assert.match(await run(), 'unchanged')
  assert.match(await eider(['history', 'core.orders']), 'erase')
})

test.run()
