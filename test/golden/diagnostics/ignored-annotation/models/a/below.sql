select 1 as id -- @kind: view
-- @description: one row
