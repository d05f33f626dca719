select * from query_table('raw.' || 's')
