-- @expose id
select 1 as id, 2 as "unit price"
