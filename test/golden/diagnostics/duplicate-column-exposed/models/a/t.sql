-- @expose id
select 1 as id, 2 as v, 3 as V
