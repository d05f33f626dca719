SELECT ${top} AS a,
  ${country} || ${column:identifier} AS b FROM (SELECT 1 AS m)
