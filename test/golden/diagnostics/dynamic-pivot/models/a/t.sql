-- @expose
pivot raw.s on id using sum(amount)
