// The rows of a CSV file in SQLite: numbers as numbers, true as 1, times and decimals as text.

import { execFileSync } from 'node:child_process'

const LOAD = `
import csv, sqlite3, sys
rows = csv.reader(open(sys.argv[1], newline=''))
names = next(rows)
whole, real = {'id', 'big', 'other'}, {'ratio'}
make = {n: int if n in whole else float if n in real else (lambda v: int(v == 'true')) if n == 'flag' else str for n in names}
db = sqlite3.connect(sys.argv[2])
table = sys.argv[3]
if table == 'rows':
    types = {n: 'INTEGER' if n in whole or n == 'flag' else 'REAL' if n in real else 'TEXT' for n in names}
    columns = ', '.join(f'{n} {types[n]}' + (' PRIMARY KEY' if n == 'id' else '') for n in names)
    db.execute(f'CREATE TABLE rows ({columns})')
typed = ([None if v == '' else make[n](v) for n, v in zip(names, row)] for row in rows)
db.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", typed)
db.commit()
db.execute('ANALYZE')
`

/** `table` is made where it is `rows`, and there already otherwise. */
export function loadSqlite(python: string, csv: string, database: string, table = 'rows'): void {
  execFileSync(python, ['-c', LOAD, csv, database, table], { stdio: 'pipe' })
}
