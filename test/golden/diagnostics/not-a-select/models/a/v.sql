-- @kind: view
create table t (i integer)