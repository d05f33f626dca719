-- @kind: merge
-- @unique_key: id, "lin"
-- @expose custmer_id
select 1 as id, 2 as line, 3 as customer_id
