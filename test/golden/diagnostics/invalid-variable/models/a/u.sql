SELECT 1 AS rows_${top}
