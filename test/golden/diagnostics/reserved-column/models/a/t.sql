-- @kind: scd2
-- @unique_key: id
select 1 as id, true as Valid_From
