-- @kind: events
select id from raw.s
