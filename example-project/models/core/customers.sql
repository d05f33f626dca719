-- @kind: table
-- @expose customer_id
-- @description: Customers of the shop

SELECT
  customer_id::INTEGER AS customer_id,
  name,
  email,
  city,
  country,
  segment,
  signed_up_on::DATE AS signed_up_on
FROM ref.customers
