-- @kind: events
id INTEGER NOT NULL,
b TYPE,
nested STRUCT(t TYPE[])
