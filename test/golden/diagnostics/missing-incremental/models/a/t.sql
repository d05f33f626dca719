-- @kind: append
select 1 as id, now() as ts
