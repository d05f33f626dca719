-- @kind: table
-- @expose customer_id
-- @check: not_null(customer_id, orders)
-- @description: Customers with what they have bought, those who have bought nothing too

SELECT
  customers.customer_id,
  customers.name,
  customers.country,
  count(orders.order_id) AS orders,
  coalesce(sum(orders.revenue), 0)::DECIMAL(18,2) AS revenue,
  max(orders.ordered_at)::DATE AS last_order
FROM core.customers AS customers
LEFT JOIN core.orders AS orders
  ON orders.customer_id = customers.customer_id AND orders.status = 'paid'
GROUP BY ALL
