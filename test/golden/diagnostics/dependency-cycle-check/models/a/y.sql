select id from a.x
