select * from a.u
