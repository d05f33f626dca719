-- @kind: events
id INTEGR NOT NULL,
"größe" DECIMAL(50, 2),
items STRUCT(a INTEGER, b VARCHR)[],
name VARCHAR extra
