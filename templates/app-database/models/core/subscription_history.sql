-- @kind: scd2
-- @unique_key: subscription_id
-- @expose subscription_id, valid_from
-- @description: Every version of a subscription: the application keeps only the newest

SELECT subscription_id, user_id, plan, price, started_on, ended_on
FROM staging.subscriptions
