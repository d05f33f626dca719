-- since ${since}
SELECT '${since}' AS a, "a_${top}".n, $$ ${top} $$ AS d, '${else}' AS e
FROM (SELECT 1 AS n) AS "a_${top}"
