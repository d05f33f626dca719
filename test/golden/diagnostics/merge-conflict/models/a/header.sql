<<<<<<< HEAD
-- @kind: view
=======
-- @kind: table
>>>>>>> other
select 1 as a
