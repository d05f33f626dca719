-- a note

-- @kind: snapshot
select 1 as x
