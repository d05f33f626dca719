select * from warehouse.raw.s
