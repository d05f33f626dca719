-- @kind: view
-- @description: Customers
-- @check: unique(customer_id)

SELECT customer_id, name, country, registered
FROM shop.customers
