-- @expose
select id, amount from raw.s
