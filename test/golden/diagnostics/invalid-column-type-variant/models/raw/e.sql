-- @kind: events
id INTEGER NOT NULL,
anything VARIANT[]
