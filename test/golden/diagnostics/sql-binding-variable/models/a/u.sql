SELECT ${country} AS c, m + FROM (SELECT 1 AS m) LIMIT ${top}
