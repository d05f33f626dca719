-- @description: one row
--   and one column

-- an ordinary comment
-- @owner: ana @kind: view
select 1 as id
