-- @kind: append
-- @incremental: ts lookback 10
select date '2024-01-01' as ts
