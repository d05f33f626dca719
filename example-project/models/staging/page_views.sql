-- @kind: view
-- @description: Page views, each one once

SELECT
  page_view_id,
  session_id,
  customer_id,
  product_id,
  path,
  device,
  referrer,
  viewed_at
FROM raw.page_views
QUALIFY row_number() OVER (PARTITION BY page_view_id ORDER BY received_at) = 1
