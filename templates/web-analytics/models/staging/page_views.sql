-- @kind: view
-- @description: Each view once, without its query string; a browser may send one twice

SELECT
  view_id,
  visitor,
  split_part(path, '?', 1) AS path,
  coalesce(nullif(regexp_extract(referrer, '^https?://(?:www\.)?([^/]+)', 1), ''), 'direct') AS came_from,
  viewed_at
FROM web.page_views
QUALIFY row_number() OVER (PARTITION BY view_id ORDER BY received_at) = 1
