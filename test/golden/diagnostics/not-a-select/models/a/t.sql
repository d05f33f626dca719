insert into raw.s values (1)
