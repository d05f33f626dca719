// A project in which a person has left traces: raw events, a merge that renames the columns, a history of versions, a table
// that joins the person twice, and sums.

import type { Workspace } from './workspace.ts'

export const eraseFiles = {
  'eider.yml': 'name: shop\n',
  'models/raw/orders.sql': `-- @kind: events
-- @expose
order_id BIGINT NOT NULL,
customer_id BIGINT,
seller_id BIGINT,
name VARCHAR,
amount DECIMAL(10,2),
received_at TIMESTAMPTZ
`,
  'models/core/orders.sql': `-- @kind: merge
-- @unique_key: order_id
-- @on_duplicate: latest(received_at)
-- @incremental: received_at
-- @expose order_id
SELECT order_id, customer_id AS buyer, name AS called, amount, received_at FROM raw.orders
`,
  'models/core/history.sql': `-- @kind: scd2
-- @unique_key: order_id
-- @expose order_id, valid_from
SELECT order_id, buyer, called FROM core.orders
`,
  'models/core/both.sql': `-- @kind: append
-- @incremental: order_id
SELECT one.order_id, one.customer_id AS first_id, other.customer_id AS second_id
FROM raw.orders AS one JOIN raw.orders AS other ON other.order_id = one.order_id + 100
`,
  'models/mart/sums.sql': `-- @expose called
SELECT called, sum(amount) AS total FROM core.orders GROUP BY called
`,
}

export async function sendOrders(
  space: Workspace,
  url: string,
  orders: readonly object[],
): Promise<void> {
  const body = orders.map((order) => JSON.stringify(order)).join('\n')
  const headers = { 'Content-Type': 'application/x-ndjson' }
  const answer = await fetch(`${url}/collect/raw/orders/batch`, { method: 'POST', headers, body })
  if (answer.status !== 202) throw new Error(`${space.dir}: ${await answer.text()}`)
}
