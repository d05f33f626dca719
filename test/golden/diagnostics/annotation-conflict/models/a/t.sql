-- @kind: merge
-- @unique_key: id
-- @incremental: ts
-- @deletes: mirror
select 1 as id, 2 as ts
