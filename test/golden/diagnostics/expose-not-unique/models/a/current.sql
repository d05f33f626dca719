-- @kind: scd2
-- @unique_key: id
-- @expose id, is_current
select 1 as id
