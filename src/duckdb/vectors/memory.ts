// The memory of DuckDB between two large pieces of work. Left alone it grows with what was written: the blocks stay
// cached up to the memory limit, the allocator keeps what was freed for a while, and all that was inserted since the last
// checkpoint is repacked by the next one, in memory.

import { limits } from '../../core/limits.ts'
import { sql } from '../../core/sql.ts'
import { type Connection, Database } from '../database.ts'
import { refusalOf } from '../errors.ts'

/** Reads DuckDB's limit on its memory, as settleMemory() wants it back. Rounded down, so to be read once only. */
export async function readMemoryLimit(connection: Connection): Promise<string> {
  const row = await connection.row(sql`SELECT current_setting('memory_limit') AS value`)
  return row?.['value'] as string
}

/**
 * Returns a function that a bulk load calls before each part, with the part's bytes. It settles when those since
 * the last time would be more than limits.flushBytes, so that a load of any length takes the memory of about one part.
 * The checkpoint costs about a quarter of the time that inserting so many bytes takes, so not after small parts, and not
 * after the last one.
 */
export async function roomMaker(connection: Connection): Promise<(bytes: number) => Promise<void>> {
  const memoryLimit = await readMemoryLimit(connection)
  let writtenBytes = 0
  return async (bytes) => {
    if (writtenBytes > 0 && writtenBytes + bytes > limits.flushBytes) {
      await settleMemory(connection, memoryLimit)
      writtenBytes = 0
    }
    writtenBytes += bytes
  }
}

/**
 * Brings what was committed into the database file and gives memory back to the system. No other connection may be at
 * work, and no transaction open. Afterwards the limit is `memoryLimit` again.
 */
export async function settleMemory(connection: Connection, memoryLimit: string): Promise<void> {
  await connection.run(sql`CHECKPOINT`)
  // A change of the limit is the one thing that makes DuckDB drop its cache and its allocator let go.
  // What is pinned cannot go.
  await refusalOf(connection.run(sql`SET memory_limit = ${sql.value(limits.settledMemory)}`))
  // RESET would change what DuckDB says of its limit, and not the limit.
  await connection.run(sql`SET memory_limit = ${sql.value(memoryLimit)}`)
}

/**
 * Takes `files` from the engine, which is about to be closed, and gives the memory that it has cached of them back to the
 * system. All of it happens in the thread pool: closing does it on the main thread, which takes 50 ms for 400 MB.
 */
export async function dropCache(database: Database, files: readonly string[]): Promise<void> {
  const drop = async () => {
    await using connection = await database.connect()
    const cached = await connection.row(
      sql`SELECT coalesce(sum(memory_usage_bytes), 0) AS bytes FROM duckdb_memory()`,
    )
    if (Number(cached?.['bytes']) < limits.closedCacheBytes) return
    for (const file of files)
      await connection.run(sql`DETACH DATABASE IF EXISTS ${sql.ident(file)}`)
    await releaseFreed()
  }
  await refusalOf(drop()) // else it is freed by closing
}

/** The engines of a process share an allocator, and one that is locked cannot change its limit. */
async function releaseFreed(): Promise<void> {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  await connection.run(sql`SET memory_limit = ${sql.value(limits.settledMemory)}`)
}
