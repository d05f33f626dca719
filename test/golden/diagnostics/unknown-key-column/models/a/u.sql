-- @expose nothing_alike
select 1 as id
