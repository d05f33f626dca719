-- @kind: tabel
select 1 as x
