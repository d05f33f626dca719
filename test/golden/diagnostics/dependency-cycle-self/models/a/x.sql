-- @kind: merge
-- @unique_key: id
select 1 as id where not exists (from a.x)
