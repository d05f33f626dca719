select * from raw.ss join s using (id) join nowhere.near using (id)
