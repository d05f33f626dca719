-- @kind: table
-- @expose month, plan
-- @check: not_null(month, plan)
-- @check: revenue >= 0
-- @description: Recurring revenue of each month since the first subscription, by plan

WITH months AS (
  SELECT unnest(generate_series(
    (SELECT date_trunc('month', min(started_on)) FROM staging.subscriptions),
    (SELECT date_trunc('month', max(coalesce(ended_on, started_on))) FROM staging.subscriptions),
    INTERVAL 1 MONTH
  ))::DATE AS month
)
SELECT
  months.month,
  subscriptions.plan,
  count(*) AS subscriptions,
  sum(subscriptions.price)::DECIMAL(18,2) AS revenue
FROM months
JOIN staging.subscriptions AS subscriptions
  ON subscriptions.started_on < months.month + INTERVAL 1 MONTH
  AND (subscriptions.ended_on IS NULL OR subscriptions.ended_on >= months.month)
GROUP BY months.month, subscriptions.plan
