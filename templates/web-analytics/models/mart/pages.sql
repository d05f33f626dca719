-- @kind: table
-- @expose path
-- @description: How often each page was opened, by how many
-- @check: not_null(path)

SELECT
  path,
  count(*) AS views,
  count(DISTINCT visitor) AS visitors,
  max(viewed_at) AS last_view
FROM staging.page_views
GROUP BY path
