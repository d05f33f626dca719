-- @kind: table
-- @expose visitor, visit
-- @check: not_null(visitor, visit, began_at)
-- @check: pages > 0
-- @check: ended_at >= began_at
-- @description: Views of one visitor, one after the other, without a pause of half an hour

WITH marked AS (
  SELECT
    *,
    viewed_at - lag(viewed_at) OVER (PARTITION BY visitor ORDER BY viewed_at, view_id) AS pause
  FROM staging.page_views
), numbered AS (
  SELECT
    *,
    count(*) FILTER (WHERE pause IS NULL OR pause > to_minutes(${visit_minutes}))
      OVER (PARTITION BY visitor ORDER BY viewed_at, view_id) AS visit
  FROM marked
)
SELECT
  visitor,
  visit,
  min(viewed_at) AS began_at,
  max(viewed_at) AS ended_at,
  count(*) AS pages,
  arg_min(path, viewed_at) AS landed_on,
  arg_min(came_from, viewed_at) AS came_from
FROM numbered
GROUP BY visitor, visit
