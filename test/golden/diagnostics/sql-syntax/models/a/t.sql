-- größe
select 'é😀' as a,
  id frm raw.s x
