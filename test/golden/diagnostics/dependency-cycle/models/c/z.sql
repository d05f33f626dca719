select * from A.X
