-- @kind: events
id DECIMAL(10,2,
name VARCHAR
