select * from (values (1, 2)) t(id, amount)
