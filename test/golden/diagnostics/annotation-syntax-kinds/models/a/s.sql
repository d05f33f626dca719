-- @kind: scd2
-- @unique_key: id
-- @on_duplicate: latest(at)
select 1 as id, amuont from (select 1 as amount)
