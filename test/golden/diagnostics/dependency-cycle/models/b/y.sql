with t as (select 1 as i)
select t.i from t, c.z
