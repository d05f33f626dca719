// An engine for strangers' questions: it reads the database files that it was given and nothing else.

import { sql } from '../core/sql.ts'
import { ConnectionPool } from './connection-pool.ts'
import { type Connection, Database } from './database.ts'
import { dropCache } from './memory.ts'
import { Resources } from '../core/resources.ts'

export interface AttachedFile {
  /** The catalog name under which queries find it. */
  readonly name: string
  /** Absolute path of a database file. */
  readonly path: string
}

export interface ReadOnlyOptions {
  readonly files: readonly AttachedFile[]
  /** Threads of one query, beside those that wait for it. */
  readonly threads: number
  readonly memoryLimit: string | null
  /** Where large sorts and groupings spill to; this engine's alone. */
  readonly tempDir: string
  /** Connections that are kept for queries. */
  readonly connections: number
}

/**
 * A stream makes this much and then waits for its reader. The engine's own size, 1 MB, is dozens of chunks, since it
 * counts 16 bytes for a text of any length: it would work on them while the socket has nothing to do, stand still while
 * they are sent, and hold 30 MB for each client that does not read.
 */
const STREAM_BUFFER = '64KB'

/**
 * Opens an engine with `files` attached for reading, then locks it: no file, network, extension or setting is within
 * reach of a statement. What stays possible (temporary tables, DETACH) needs statements that are no SELECT, which
 * TextStream refuses. Throws DatabaseError when a file is missing or damaged.
 */
export async function openReadOnly(options: ReadOnlyOptions): Promise<ConnectionPool> {
  const { files, threads, memoryLimit, tempDir } = options
  await using resources = new Resources()
  const database = resources.use(
    await Database.open({ path: ':memory:', threads, memoryLimit, tempDir }),
  )
  await using connection = await database.connect()
  for (const { name, path } of files)
    await connection.run(sql`ATTACH ${sql.value(path)} AS ${sql.ident(name)} (READ_ONLY)`)
  const pool = await ConnectionPool.open(database, {
    size: options.connections,
    settings: [sql`SET streaming_buffer_size = ${sql.value(STREAM_BUFFER)}`],
    onClose: () =>
      dropCache(
        database,
        files.map(({ name }) => name),
      ),
  })
  // For connections that the pool opens later. A SET is no SELECT, so no query can make one.
  await connection.run(sql`SET GLOBAL allowed_configs = ['streaming_buffer_size']`)
  await connection.run(sql`SET GLOBAL enable_external_access = false`)
  await connection.run(sql`SET GLOBAL lock_configuration = true`)
  await requireLocked(connection)
  resources.move()
  return pool
}

const LOCKED: Readonly<Record<string, string>> = {
  enable_external_access: 'false',
  lock_configuration: 'true',
  allowed_configs: '[streaming_buffer_size]',
  autoinstall_known_extensions: 'false',
  autoload_known_extensions: 'false',
  allow_unsigned_extensions: 'false',
}

/**
 * Asks the engine whether it is locked, instead of trusting that it understood: another version may know a setting by
 * another name. Throws when it is not, or holds a database that can be written beside its own memory.
 */
export async function requireLocked(connection: Connection): Promise<void> {
  const settings = await connection.rows(sql`SELECT name, value FROM duckdb_settings()`)
  const valueOf = new Map(settings.map(({ name, value }) => [name, value]))
  const open = Object.keys(LOCKED).filter((name) => valueOf.get(name) !== LOCKED[name])
  const written = await connection.rows(
    sql`SELECT database_name FROM duckdb_databases() WHERE NOT readonly AND NOT internal AND path IS NOT NULL`,
  )
  const wrong = [...open, ...written.map((row) => row['database_name'] as string)]
  if (wrong.length > 0) throw new Error(`the engine is not locked: ${wrong.join(', ')}`)
}
