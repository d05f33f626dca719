-- @kind: append
-- @incremental: ts lookback 1 hour
select 1 as ts
