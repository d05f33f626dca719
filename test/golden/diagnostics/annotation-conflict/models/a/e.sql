-- @kind: events
-- @on_schema_change: rebuild
id INTEGER
