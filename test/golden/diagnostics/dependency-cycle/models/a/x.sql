select * from b.y
