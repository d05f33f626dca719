-- @kind: scd2
-- @unique_key: id
-- @expose id, valid_from
select 1 as id
