-- @kind: events
-- @unique_key: x
x INTEGER
