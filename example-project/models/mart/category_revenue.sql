-- @expose first_of_month, category
-- @description: Revenue by month and category

SELECT
  date_trunc('month', orders.placed_at)::DATE AS first_of_month,
  products.category,
  sum(items.quantity)::BIGINT AS pieces,
  sum(items.line_total)::DECIMAL(14,2) AS revenue
FROM core.order_items AS items
JOIN core.orders AS orders USING (order_id)
JOIN core.products AS products USING (product_id)
WHERE orders.counts_as_revenue
GROUP BY ALL
