-- @knid: view
select 1 as x
