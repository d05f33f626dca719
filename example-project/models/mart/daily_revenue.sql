-- @kind: table
-- @expose day
-- @description: Visits, orders and revenue of each day (UTC), without cancelled and returned orders

WITH sales AS (
  SELECT
    placed_at::DATE AS day,
    count(*) AS orders,
    count(DISTINCT customer_id) AS customers,
    sum(goods_total + shipping_fee)::DECIMAL(14,2) AS revenue
  FROM core.orders
  WHERE counts_as_revenue
  GROUP BY placed_at::DATE
),
visits AS (
  SELECT
    viewed_at::DATE AS day,
    count(*) AS page_views,
    count(DISTINCT session_id) AS sessions
  FROM core.page_views
  GROUP BY viewed_at::DATE
)
SELECT
  day,
  coalesce(page_views, 0) AS page_views,
  coalesce(sessions, 0) AS sessions,
  coalesce(orders, 0) AS orders,
  coalesce(customers, 0) AS customers,
  coalesce(revenue, 0)::DECIMAL(14,2) AS revenue
FROM sales FULL JOIN visits USING (day)
