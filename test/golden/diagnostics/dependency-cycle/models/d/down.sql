select * from a.x
