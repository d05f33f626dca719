-- @kind: scd2
-- @unique_key: id, line
-- @expose line, id
select 1 as id, 2 as line
