select * from 'data/none.parquet'
