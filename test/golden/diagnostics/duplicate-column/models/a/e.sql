-- @kind: events
id INTEGER,
"ID" VARCHAR
