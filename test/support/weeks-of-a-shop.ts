// The orders of a shop whose life some tests follow for weeks: how they come in, their newest state, and sums of days.

export const ORDERS = `-- @kind: events
order_id INTEGER NOT NULL,
customer_id INTEGER,
region VARCHAR,
amount DECIMAL(10,2),
status VARCHAR,
ordered_at TIMESTAMPTZ,
received_at TIMESTAMPTZ
`

/** `total`: an expression over the columns of an event. */
export const coreOrders = (total: string, name = 'total') => `-- @kind: merge
-- @unique_key: order_id
-- @incremental: received_at
-- @on_duplicate: latest(received_at)
-- @expose order_id
SELECT order_id, customer_id, region, (${total})::DECIMAL(10,2) AS ${name}, status, ordered_at, received_at
FROM raw.orders
`

/** A SELECT without its annotations. */
export const dailyRevenue = (
  total = 'total',
) => `SELECT ordered_at::DATE AS day, region, count(*)::INTEGER AS orders, sum(${total})::DECIMAL(12,2) AS revenue
FROM core.orders
WHERE status <> 'cancelled'
GROUP BY ALL
`

export const order = (
  id: number,
  customer: number,
  region: string,
  amount: number,
  day: string,
) => ({
  order_id: id,
  customer_id: customer,
  region,
  amount,
  status: 'paid',
  ordered_at: `${day}T08:00:00Z`,
})

/** An order that is received when it is made. */
export const sent = (...of: Parameters<typeof order>) => {
  const made = order(...of)
  return { ...made, received_at: made.ordered_at }
}

export const firstSent = [
  sent(1, 7, 'west', 20, '2026-10-10'),
  sent(2, 8, 'west', 30, '2026-11-23'),
  sent(3, 8, 'east', 40, '2026-11-23'),
  sent(4, 7, 'east', 50, '2026-11-23'),
]
