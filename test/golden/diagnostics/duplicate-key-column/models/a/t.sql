-- @kind: merge
-- @unique_key: id, ID
select 1 as id
