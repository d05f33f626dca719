-- @kind: table
-- @expose month, country
-- @contract key(month, country)
-- @contract revenue DECIMAL(18,2)
-- @check: margin < revenue
-- @description: Paid orders, revenue and margin of each month and country

SELECT
  date_trunc('month', orders.ordered_at)::DATE AS month,
  customers.country,
  count(*) AS orders,
  sum(orders.revenue)::DECIMAL(18,2) AS revenue,
  sum(orders.margin)::DECIMAL(18,2) AS margin
FROM core.orders AS orders
JOIN core.customers AS customers ON customers.customer_id = orders.customer_id
WHERE orders.status = 'paid'
GROUP BY month, customers.country
