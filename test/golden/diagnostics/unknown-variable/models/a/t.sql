-- @kind: table
-- @check: n < ${tip}
SELECT 1 AS n /* ${anything} */, 'ü' AS name
WHERE DATE '2024-02-01' > ${sinc} AND ${nothing_like_it} > 1
