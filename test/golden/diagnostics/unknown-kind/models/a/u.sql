-- a note

-- @kind: append
select 1 as x
