SELECT 'a'${since} AS a, ${since}${since} AS b, ${since}'a' AS c
