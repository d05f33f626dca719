import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../src/core/resources.ts'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { DatabaseError } from '../../src/duckdb/errors.ts'
import { EmptyEngine, openReadOnly, requireLockedDown } from '../../src/duckdb/read-only.ts'

/** A directory with `orders.duckdb` (table `main.rows`, 3 rows) and an engine that may read it. */
async function open(resources: Resources, memoryLimit: string | null = null) {
  const dir = await mkdtemp(join(tmpdir(), 'eider-'))
  resources.defer(() => rm(dir, { recursive: true }))
  const path = join(dir, 'orders.duckdb')
  {
    await using writer = await Database.open({ path })
    await using connection = await writer.connect()
    await connection.run(sql`CREATE TABLE rows AS SELECT i AS id FROM range(3) AS r(i)`)
  }
  const options = { files: [{ name: 'orders', path }], threads: 1, memoryLimit, connections: 2 }
  const pool = resources.use(await openReadOnly({ ...options, tempDir: dir }))
  return { dir, pool, connection: resources.use(await pool.take()).connection }
}

test('reads what is attached and nothing else', async () => {
  await using resources = new Resources()
  const { dir, connection } = await open(resources)
  const secret = join(dir, 'secret.csv')
  await writeFile(secret, 'a,b\n1,2\n')
  const rows = await connection.rows(sql`SELECT id FROM orders.main.rows`)
  assert.equal(
    rows.map(({ id }) => id),
    ['0', '1', '2'],
  )
  const path = sql.value(secret)
  const attempts: readonly Sql[] = [
    sql`SELECT * FROM read_text(${path})`,
    sql`SELECT * FROM read_blob(${path})`,
    sql`SELECT * FROM read_csv(${path})`,
    sql`SELECT * FROM read_json(${path})`,
    sql`SELECT * FROM read_parquet(${path})`,
    sql`SELECT * FROM sniff_csv(${path})`,
    sql`SELECT * FROM glob(${sql.value(join(dir, '*'))})`,
    sql`SELECT * FROM ${sql.ident(secret)}`,
    sql`COPY (SELECT 1) TO ${sql.value(join(dir, 'out.csv'))}`,
    sql`EXPORT DATABASE ${sql.value(join(dir, 'out'))}`,
    sql`ATTACH ${sql.value(join(dir, 'other.duckdb'))} AS other`,
    sql`INSTALL httpfs`,
    sql`LOAD httpfs`,
    sql`SET threads = 8`,
    sql`SET enable_external_access = true`,
    sql`SET lock_configuration = false`,
    sql`RESET memory_limit`,
    sql`SET allowed_configs = ['threads']`,
    sql`RESET allowed_configs`,
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
  assert.equal((await readdir(dir)).toSorted(), ['orders.duckdb', 'secret.csv'])
})

const SPILLING = sql`SELECT count(*) AS n, min(t) AS first FROM (
  SELECT repeat('x', 60) || hash(i) AS t FROM range(2000000) AS r(i) ORDER BY t LIMIT 1900000)`

test('a query larger than its memory spills into the directory given', async () => {
  await using resources = new Resources()
  const { connection } = await open(resources, '64MB')
  assert.is((await connection.row(SPILLING))?.['n'], '1900000')
})

test('a file that is missing or no database is an error', async () => {
  await using resources = new Resources()
  const { dir } = await open(resources)
  const broken = join(dir, 'broken.duckdb')
  await writeFile(broken, 'no database')
  for (const path of [broken, join(dir, 'absent.duckdb')]) {
    const files = [{ name: 'orders', path }]
    const options = { files, threads: 1, memoryLimit: null, tempDir: dir, connections: 1 }
    const opening = openReadOnly(options)
    const error = await opening.then(
      () => null,
      (thrown: unknown) => thrown,
    )
    assert.instance(error, DatabaseError, path)
  }
})

test('an engine that was made ahead is as locked, and nothing is left of what it spilled', async () => {
  await using resources = new Resources()
  const { dir } = await open(resources)
  const settings = { threads: 1, memoryLimit: '64MB', connections: 2, tempDir: dir }
  const engine = await EmptyEngine.open(settings)
  {
    await using pool = await engine.openReadOnly([{ name: 'o', path: join(dir, 'orders.duckdb') }])
    await using lent = await pool.take()
    await requireLockedDown(lent.connection)
    assert.is((await lent.connection.rows(sql`SELECT id FROM o.main.rows`)).length, 3)
    await lent.connection.run(SPILLING)
    assert.ok((await readdir(dir)).some((name) => name.startsWith('engine-')))
  }
  assert.equal(await readdir(dir), ['orders.duckdb'])
})

test('connections that are opened after the lock stream as little ahead as the others', async () => {
  await using resources = new Resources()
  const { pool } = await open(resources)
  for (let i = 0; i < 3; i++) {
    const { connection } = resources.use(await pool.take())
    const row = await connection.row(sql`SELECT current_setting('streaming_buffer_size') AS size`)
    assert.is(row?.['size'], '62.5 KiB')
  }
})

test('an engine that is not locked is found out', async () => {
  await using resources = new Resources()
  const { dir, connection } = await open(resources)
  await requireLockedDown(connection)
  const database = resources.use(await Database.open({ path: ':memory:' }))
  const other = resources.use(await database.connect())
  const problem = () =>
    requireLockedDown(other).then(
      () => '',
      (error: Error) => error.message,
    )
  assert.match(
    await problem(),
    /not locked down: enable_external_access, lock_configuration, allowed_configs$/,
  )
  await other.run(sql`ATTACH ${sql.value(join(dir, 'written.duckdb'))} AS written`)
  await other.run(sql`SET GLOBAL enable_external_access = false`)
  assert.match(await problem(), /not locked down: lock_configuration, allowed_configs, written$/)
  await other.run(sql`SET GLOBAL allowed_configs = ['streaming_buffer_size']`)
  await other.run(sql`SET GLOBAL lock_configuration = true`)
  assert.match(await problem(), /not locked down: written$/)
})

test.run()
