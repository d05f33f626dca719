-- @expose x
select 1 as x
