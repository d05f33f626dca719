-- kind of slow
-- check: is this right?
-- @description: one row
--
-- owner asked for it
select 1 as id -- mail me@example.org
/* @todo */