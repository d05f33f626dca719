-- @kind: table
-- @expose country_id
-- @description: Orders and revenue of each country, without cancelled orders

SELECT
  countries.country_id,
  countries.name,
  count(orders.order_id) AS orders,
  coalesce(sum(orders.amount), 0)::DECIMAL(12,2) AS revenue
FROM ref.countries AS countries
LEFT JOIN core.orders AS orders
  ON orders.country_id = countries.country_id AND orders.status <> 'cancelled'
GROUP BY countries.country_id, countries.name
