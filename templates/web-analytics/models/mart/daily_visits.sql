-- @kind: table
-- @expose day, came_from
-- @check: not_null(day, came_from)
-- @check: bounces <= visits
-- @description: Visits, visitors and pages of each day, by where the visits came from

SELECT
  began_at::DATE AS day,
  came_from,
  count(*) AS visits,
  count(DISTINCT visitor) AS visitors,
  sum(pages)::BIGINT AS pages,
  count(*) FILTER (WHERE pages = 1) AS bounces
FROM core.visits
GROUP BY day, came_from
