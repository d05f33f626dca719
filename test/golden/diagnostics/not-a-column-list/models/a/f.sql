-- @kind: events
id INTEGER,,
name VARCHAR DEFAULT 'x',
7 INTEGER,
only_a_name
