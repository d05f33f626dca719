-- @expose id
select id, count(*), amount + 1, s.*, max(amount)
from raw.s group by all
