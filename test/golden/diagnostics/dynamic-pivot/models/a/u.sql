pivot (select id from raw.s) on id using count(*)
