-- @expose id
select id, sum(amount) as total from raw.s group by id
