-- @check: references(id, a.y.id)
select 1 as id
