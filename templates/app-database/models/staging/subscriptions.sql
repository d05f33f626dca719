-- @kind: view
-- @description: Subscriptions as the application has them now

SELECT subscription_id, user_id, plan, price::DECIMAL(10,2) AS price, started_on, ended_on
FROM app.subscriptions
