// A project as people have it, with events, lineage, a warning and a run that failed, served by the built program.

import { startDaemon } from './daemon-process.ts'
import { type Workspace, workspace } from './workspace.ts'

const files: Readonly<Record<string, string>> = {
  'eider.yml': 'name: shop\n',
  'models/raw/orders.sql': `-- @kind: events
-- @description: Changes of orders
order_id    INTEGER NOT NULL,
customer_id INTEGER NOT NULL,
status      VARCHAR NOT NULL,
amount      DECIMAL(10,2) NOT NULL,
changed_at  TIMESTAMPTZ NOT NULL
`,
  'models/staging/orders.sql': `-- @kind: view
SELECT *, min(changed_at) OVER (PARTITION BY order_id) AS placed_at FROM raw.orders
QUALIFY row_number() OVER (PARTITION BY order_id ORDER BY changed_at DESC) = 1`,
  'models/core/orders.sql': `-- @kind: merge
-- @unique_key: order_id
-- @expose order_id
-- @description: Orders in their newest state
SELECT
  order_id,
  customer_id,
  status,
  amount::DECIMAL(12,2) AS goods_total,
  CASE WHEN order_id % 9 = 0 THEN NULL ELSE status = 'paid' END AS is_paid,
  CASE WHEN order_id % 4 > 0 THEN 'WINTER' || order_id % 4 END AS coupon,
  range(order_id % 3) AS parcels,
  placed_at
FROM staging.orders`,
  'models/core/customers.sql': `-- @kind: table
-- @expose customer_id
-- @description: Customers of the shop
-- @warn: city != ''
SELECT i::INTEGER AS customer_id, 'Customer ' || i AS name,
  CASE WHEN i = 3 THEN '' ELSE 'City ' || i % 5 END AS city,
  ['NO', 'SE', 'DK'][i % 3 + 1] AS country
FROM range(1, 41) t(i)`,
  'boards/shop.yml': `title: The <b>shop</b>
description: How it is going
charts:
  - title: Takings by month
    text: Without <img src=x onerror=alert(1)> anything.
    chart: /sets/mart_sales/chart?x=day&y=takings&method=measure&per=month
  - chart: http://127.0.0.1:8090/sets/core_orders/chart?x=status&$filter=goods_total gt 100
  - chart: /sets/core_orders/chart?x=gone
  - chart: /sets/core_nothing/chart?x=a
`,
  'models/mart/sales.sql': `-- @expose day
-- @description: Revenue of each day
-- @owner: sales@example.com
-- @measure takings: sum(revenue)
-- @label takings: Takings
-- @unit takings: EUR
-- @measure per_order: takings / sum(orders)
-- @format per_order: 0.0
-- @time day
SELECT placed_at::DATE AS day, count(*) AS orders, sum(goods_total)::DECIMAL(14,2) AS revenue
FROM core.orders GROUP BY ALL`,
}

const statuses = ['placed', 'paid', 'paid', 'shipped', 'shipped', 'shipped']

/** 300 orders of 100 days. */
const events = Array.from({ length: 300 }, (_, i) => ({
  order_id: i + 1,
  customer_id: (i % 40) + 1,
  status: statuses[i % statuses.length],
  amount: ((i * 37) % 400) + 0.5,
  changed_at: new Date(Date.UTC(2026, 0, 1, 12) + Math.floor(i / 3) * 86_400_000).toISOString(),
}))

interface ExploredProject extends AsyncDisposable {
  readonly base: string
  readonly space: Workspace
  /** Of the run in which a model failed. */
  readonly failedRun: string
}

export async function exploredProject(): Promise<ExploredProject> {
  const space = await workspace(files)
  await using daemon = await startDaemon(space)
  const posted = await fetch(`${daemon.url}/collect/raw/orders/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: events.map((event) => JSON.stringify(event)).join('\n'),
  })
  if (!posted.ok) throw new Error(await posted.text())
  const env = { COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port }
  await space.ok(['run'], { env })
  const sales = files['models/mart/sales.sql']!
  await space.write('models/mart/sales.sql', sales.replace('count(*)', "error('no ' || count(*))"))
  const failed = await space.ok(['run', '--json'], { env, exitCode: 1 })
  await space.write('models/mart/sales.sql', sales)
  await space.ok(['run'], { env })
  const running = await space.start(['serve', '--port', '0', '--quiet'])
  return {
    base: running.url,
    space,
    failedRun: /"run_id":"([^"]+)"/.exec(failed.stdout)![1]!,
    [Symbol.asyncDispose]: () => space[Symbol.asyncDispose]() as Promise<void>,
  }
}
