-- @kind: table
-- @expose path
-- @check: not_null(path)
-- @description: How often each page was opened, by how many

SELECT
  path,
  count(*) AS views,
  count(DISTINCT visitor) AS visitors,
  max(viewed_at) AS last_view
FROM staging.page_views
GROUP BY path
