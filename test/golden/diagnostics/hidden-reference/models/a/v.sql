from newest(lower('RAW.S'))
