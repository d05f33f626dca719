-- @kind: view
-- @description: One row for each line of each order

SELECT
  order_id,
  line,
  items[line].product_id AS product_id,
  items[line].quantity AS quantity,
  items[line].unit_price AS unit_price
FROM staging.orders, unnest(range(1, len(items) + 1)) AS lines(line)
