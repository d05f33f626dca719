-- @kind: table
select
  id,
  amuont
from raw.s
