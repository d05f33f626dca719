-- @kind: table
-- @expose product_id
-- @description: Products, also those no longer sold

SELECT
  product_id::INTEGER AS product_id,
  name,
  category,
  price::DECIMAL(10,2) AS price,
  weight_g::INTEGER AS weight_g,
  launched_on::DATE AS launched_on,
  discontinued::BOOLEAN AS discontinued
FROM ref.products
