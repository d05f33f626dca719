-- @kind: merge
select 1 as id
