-- @kind: events
-- @check: id > 0
id INTEGER
