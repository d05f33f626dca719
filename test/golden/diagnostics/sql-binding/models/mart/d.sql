select * from read_csv('data/none.csv')
