-- @materialized: view
select 1 as x
