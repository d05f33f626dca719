select * from query('from raw.s')
