// Alone in its process: it measures memory.

import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { type Connection, Database } from '../../../src/duckdb/database.ts'
import { readMemoryLimit, settleMemory } from '../../../src/duckdb/vectors/memory.ts'
import { openReadOnly } from '../../../src/duckdb/read-only.ts'

const cachedBytes = async (connection: Connection) =>
  Number(
    (
      await connection.row(
        sql`SELECT sum(memory_usage_bytes)::BIGINT AS bytes FROM duckdb_memory()`,
      )
    )?.['bytes'],
  )

const write = (connection: Connection) =>
  connection.run(sql`
    CREATE OR REPLACE TABLE rows AS
    SELECT gen_random_uuid() AS a, gen_random_uuid() AS b FROM range(4_000_000)`)

for (const given of ['1GB', null])
  test(`what was written leaves the memory, and the limit stays: ${given ?? 'the own one'}`, async () => {
    const dir = await mkdtemp(join(tmpdir(), 'eider-memory-'))
    try {
      const path = join(dir, 'a.duckdb')
      await using database = await Database.open({ path, memoryLimit: given })
      await using connection = await database.connect()
      const memoryLimit = await readMemoryLimit(connection)
      for (let i = 0; i < 2; i++) {
        await write(connection)
        const bytes = await cachedBytes(connection)
        assert.ok(bytes > 100e6, `only ${bytes} bytes are cached, as if the limit were lower`)
        await settleMemory(connection, memoryLimit)
        assert.ok((await cachedBytes(connection)) <= 64 * 2 ** 20)
        assert.ok(!existsSync(`${path}.wal`) || (await stat(`${path}.wal`)).size === 0)
      }
      const row = await connection.row(sql`SELECT count(*)::INTEGER AS n FROM rows`)
      assert.is(row?.['n'], 4_000_000)
    } finally {
      await rm(dir, { recursive: true })
    }
  })

test('an engine that read a large file has given its memory back when it is closed', async () => {
  await using resources = new Resources()
  const dir = await mkdtemp(join(tmpdir(), 'eider-memory-'))
  resources.defer(() => rm(dir, { recursive: true }))
  const path = join(dir, 'a.duckdb')
  {
    await using database = await Database.open({ path })
    await using connection = await database.connect()
    await write(connection)
  }
  const options = { threads: 1, memoryLimit: '1GB', tempDir: join(dir, 'temp'), connections: 2 }
  const pool = resources.use(await openReadOnly({ ...options, files: [{ name: 'a b', path }] }))
  {
    await using lent = await pool.take()
    await lent.connection.row(sql`SELECT max(a), max(b) FROM ${sql.ident('a b', 'main', 'rows')}`)
    const bytes = await cachedBytes(lent.connection)
    assert.ok(bytes > 100e6, `only ${bytes} bytes are cached`)
  }
  const atClose: { readonly cached: number; readonly resident: number }[] = []
  const close = Reflect.get(Database.prototype, Symbol.asyncDispose) as () => Promise<void>
  resources.defer(() => void Reflect.set(Database.prototype, Symbol.asyncDispose, close))
  Database.prototype[Symbol.asyncDispose] = async function (this: Database) {
    const connection = await this.connect()
    const cached = await cachedBytes(connection)
    await connection[Symbol.asyncDispose]()
    atClose.push({ cached, resident: process.memoryUsage.rss() })
    await close.call(this)
  }
  const before = process.memoryUsage.rss()
  await pool[Symbol.asyncDispose]()
  const { cached, resident } = atClose.at(-1)!
  assert.ok(cached < 10e6, `${cached} bytes are cached`)
  // Elsewhere the engine has the allocator of the system, which keeps what it likes.
  if (process.platform === 'linux')
    assert.ok(resident < before - 50e6, `${resident} bytes are resident, ${before} were`)
})

test.run()
