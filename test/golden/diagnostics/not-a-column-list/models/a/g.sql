-- @kind: events
id INTEGER;
drop table raw.s
