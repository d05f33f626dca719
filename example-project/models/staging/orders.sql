-- @kind: view
-- @description: The newest state of each order, and when it was placed

SELECT
  order_id,
  customer_id,
  status,
  items,
  shipping_fee,
  coupon,
  min(changed_at) OVER (PARTITION BY order_id) AS placed_at,
  changed_at
FROM raw.orders
-- Senders repeat events and deliver some of them late, so the order of arrival says nothing.
QUALIFY row_number() OVER (PARTITION BY order_id ORDER BY changed_at DESC, event_id DESC) = 1
