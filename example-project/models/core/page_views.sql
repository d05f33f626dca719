-- @kind: view
-- @expose page_view_id
-- @description: Page views; leads to the customer and to the product, where there is one

SELECT
  page_view_id,
  session_id,
  customer_id,
  product_id,
  path,
  device,
  referrer,
  viewed_at
FROM staging.page_views
