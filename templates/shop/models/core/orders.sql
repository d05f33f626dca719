-- @kind: table
-- @expose order_id
-- @check: references(customer_id, core.customers.customer_id)
-- @check: accepted(status, 'paid', 'cancelled', 'returned')
-- @warn: revenue > 0
-- @description: Orders with what they cost and what they earn

SELECT
  orders.order_id,
  orders.customer_id,
  orders.status,
  orders.ordered_at,
  count(*) AS lines,
  sum(items.quantity * items.price)::DECIMAL(12,2) AS revenue,
  sum(items.quantity * (items.price - products.cost))::DECIMAL(12,2) AS margin
FROM shop.orders AS orders
JOIN shop.order_items AS items ON items.order_id = orders.order_id
JOIN shop.products AS products ON products.product_id = items.product_id
GROUP BY ALL
