import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { type Connection, Database } from '../../src/duckdb/database.ts'
import { readMemoryLimit, settleMemory } from '../../src/duckdb/memory.ts'

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

test.run()
