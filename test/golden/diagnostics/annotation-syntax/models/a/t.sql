-- @unique_key: id,
-- @kind: merge
-- @expose: id name
-- @: x
select 1 as id
