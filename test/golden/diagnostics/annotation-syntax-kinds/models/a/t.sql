-- @kind: merge
-- @unique_key: id
-- @on_duplicate: newest(ts)
-- @deletes: drop
-- @on_schema_change: replace
-- @incremental: ts lookback 2 fortnights
select 1 as id
