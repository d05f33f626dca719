-- @kind: table
-- @expose month, category
-- @check: not_null(month, category)
-- @description: What came in and went out in each month, by category

SELECT
  date_trunc('month', booked_on)::DATE AS month,
  category,
  count(*) AS bookings,
  sum(amount)::DECIMAL(18,2) AS amount
FROM core.bookings
GROUP BY month, category
