-- @kind: view
-- @description: The newest state of each order

SELECT order_id, country_id, status, amount, changed_at
FROM raw.orders
QUALIFY row_number() OVER (PARTITION BY order_id ORDER BY changed_at DESC, received_at DESC) = 1
