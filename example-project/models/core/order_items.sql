-- @kind: table
-- @expose order_item_id
-- @description: Lines of orders; leads to the order and to the product

SELECT
  order_id || '-' || line AS order_item_id,
  order_id,
  product_id,
  quantity,
  unit_price,
  (quantity * unit_price)::DECIMAL(12,2) AS line_total
FROM staging.order_items
