SELECT 'ü' AS u, ${country} AS c, ${top} AS n, missing FROM (SELECT 1 AS m)
