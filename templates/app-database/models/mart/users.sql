-- @kind: table
-- @expose user_id
-- @check: unique(user_id)
-- @description: Users with their plan, those without one too

SELECT
  users.user_id,
  users.country,
  users.email_domain,
  users.created_at::DATE AS joined_on,
  max_by(subscriptions.plan, subscriptions.started_on) AS plan
FROM staging.users AS users
LEFT JOIN staging.subscriptions AS subscriptions
  ON subscriptions.user_id = users.user_id AND subscriptions.ended_on IS NULL
GROUP BY ALL
