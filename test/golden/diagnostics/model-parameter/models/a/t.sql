select id from raw.s where id = ?
