-- @kind: merge
-- @unique_key: order_id
-- @expose order_id
-- @description: Orders; a run writes only those that changed

SELECT order_id, country_id, status, amount, changed_at
FROM staging.orders
