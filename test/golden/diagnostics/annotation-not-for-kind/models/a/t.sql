-- @kind: view
-- @unique_key: x
select 1 as x
