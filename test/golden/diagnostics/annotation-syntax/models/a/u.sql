-- @kind:
-- @description
select 1 as id
