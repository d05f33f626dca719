-- @kind: merge
-- @unique_key: id
-- @expose
select id, amount from raw.s
