-- @kind: view
-- @check: unique(customer_id)
-- @description: Customers

SELECT customer_id, name, country, registered
FROM shop.customers
