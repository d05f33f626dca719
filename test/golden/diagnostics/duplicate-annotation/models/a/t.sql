-- @kind: view
-- a note
-- @kind: table
select 1 as x
