-- @kind: append
-- @incremental: at
select 1 as id
