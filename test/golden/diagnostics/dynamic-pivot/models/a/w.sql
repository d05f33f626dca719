pivot (select 1 as k, * from raw.s) on id using count(*)
