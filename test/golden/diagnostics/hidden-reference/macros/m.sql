CREATE MACRO any_query(q) AS TABLE FROM query(q);
CREATE MACRO newest(t) AS TABLE FROM query_table(t);
