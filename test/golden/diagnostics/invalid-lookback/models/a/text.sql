-- @kind: append
-- @incremental: ts lookback 10
select 'x' as ts
