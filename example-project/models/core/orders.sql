-- @kind: merge
-- @unique_key: order_id
-- @expose order_id
-- @description: Orders in their newest state; a run writes only those that changed

SELECT
  order_id,
  customer_id,
  status,
  status NOT IN ('cancelled', 'returned') AS counts_as_revenue,
  coupon,
  list_sum(list_transform(items, lambda item: item.quantity * item.unit_price))::DECIMAL(12,2)
    AS goods_total,
  shipping_fee,
  placed_at,
  changed_at
FROM staging.orders
