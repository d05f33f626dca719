import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../src/core/resources.ts'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { DatabaseError } from '../../src/duckdb/errors.ts'
import { openFileWriter, writtenTo } from '../../src/duckdb/read-only.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const parquetOf = (rows: Sql, path: string) => writtenTo(path, rows, sql`FORMAT parquet`)

/** A writer over `orders.duckdb`, its directory `out`, and others beside that. */
async function open(resources: Resources) {
  const { path: dir } = resources.use(await temporaryDirectory())
  const orders = join(dir, 'orders.duckdb')
  {
    await using writer = await Database.open({ path: orders })
    await using connection = await writer.connect()
    await connection.run(sql`CREATE TABLE rows AS SELECT i AS id FROM range(3) AS r(i)`)
  }
  for (const name of ['out', 'out2', 'other']) await mkdir(join(dir, name))
  await writeFile(join(dir, 'other', 'secret.csv'), 'a\n1\n')
  const pool = resources.use(
    await openFileWriter({
      files: [{ name: 'orders', path: orders }],
      dir: join(dir, 'out'),
      memoryLimit: null,
      tempDir: join(dir, 'temp'),
    }),
  )
  return { dir, connection: resources.use(await pool.take()).connection }
}

test('it writes rows of the attached files into its directory', async () => {
  await using resources = new Resources()
  const { dir, connection } = await open(resources)
  const path = join(dir, 'out', 'rows.parquet')
  assert.is(await connection.run(parquetOf(sql`SELECT id FROM orders.main.rows`, path)), 3)
  assert.equal(await readdir(join(dir, 'out')), ['rows.parquet'])
})

test('a query reads and writes nothing else', async () => {
  await using resources = new Resources()
  const { dir, connection } = await open(resources)
  const secret = sql.value(join(dir, 'other', 'secret.csv'))
  const beside = sql.value(join(dir, 'out', '..', 'other', 'secret.csv'))
  const rows = sql`SELECT 1 AS x`
  const inside = join(dir, 'out', 'x.parquet')
  const attempts: readonly Sql[] = [
    sql`SELECT * FROM read_csv(${secret})`,
    sql`SELECT * FROM read_csv(${beside})`,
    sql`SELECT * FROM read_text(${secret})`,
    sql`SELECT * FROM glob(${sql.value(join(dir, 'other', '*'))})`,
    sql`SELECT * FROM glob(${sql.value(join(dir, '*'))})`,
    sql`SELECT * FROM read_parquet('http://127.0.0.1:9/x.parquet')`,
    parquetOf(sql`SELECT * FROM read_csv(${secret})`, inside),
    parquetOf(rows, join(dir, 'other', 'x.parquet')),
    parquetOf(rows, join(dir, 'out2', 'x.parquet')),
    parquetOf(rows, join(dir, 'out', '..', 'x.parquet')),
    parquetOf(rows, join(dir, 'x.parquet')),
    sql`COPY (${rows}) TO ${sql.value(join(dir, 'other', 'x.csv'))}`,
    sql`EXPORT DATABASE ${sql.value(join(dir, 'other', 'all'))}`,
    sql`ATTACH ${sql.value(join(dir, 'other', 'new.duckdb'))} AS other`,
    sql`INSTALL httpfs`,
    sql`LOAD httpfs`,
    sql`SET allowed_directories = ['/']`,
    sql`RESET allowed_directories`,
    sql`SET allowed_paths = ['/etc/passwd']`,
    sql`SET enable_external_access = true`,
    sql`SET lock_configuration = false`,
    sql`INSERT INTO orders.main.rows VALUES (9)`,
    sql`DROP TABLE orders.main.rows`,
  ]
  for (const attempt of attempts) {
    const error = await connection.rows(attempt).then(
      () => null,
      (thrown: unknown) => thrown,
    )
    assert.instance(error, DatabaseError, attempt.inline())
  }
  assert.equal(await readdir(join(dir, 'other')), ['secret.csv'])
  assert.equal(await readdir(join(dir, 'out2')), [])
  const names = (await readdir(dir)).toSorted()
  assert.equal(names, ['orders.duckdb', 'other', 'out', 'out2'])
})

test.run()
