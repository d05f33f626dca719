// A DuckDB instance for untrusted queries: it reads the attached database files and nothing else.

import { randomUUID } from 'node:crypto'
import { realpath, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Extensions } from '../core/extensions.ts'
import { Resources } from '../core/resources.ts'
import { sql, type Sql } from '../core/sql.ts'
import { ConnectionPool } from './connection-pool.ts'
import { type Connection, Database } from './database.ts'
import { dropCache } from './vectors/memory.ts'

export interface AttachedFile {
  /** The catalog name under which queries find it. */
  readonly name: string
  readonly path: string
}

export interface EngineSettings {
  /** Threads of one query, not counting those that wait for it. */
  readonly threads: number
  readonly memoryLimit: string | null
  /** Large sorts and groupings spill into a directory of the engine's own below this one, which goes with it. */
  readonly tempDir: string
  /** Of those that no query uses, so many stay open. */
  readonly connections: number
  /** Loaded before the engine is locked; none when absent. Throws ExtensionError. */
  readonly extensions?: Extensions | undefined
}

interface ReadOnlyOptions extends EngineSettings {
  readonly files: readonly AttachedFile[]
}

interface Reach {
  readonly dir?: string | null
  readonly inMemory?: readonly string[]
}

/**
 * A stream makes this much and then waits for its reader. DuckDB's own size, 1 MB, is dozens of chunks, since it
 * counts 16 bytes for a text of any length: it would work on them while the socket has nothing to do, stand still while
 * they are sent, and hold 30 MB for each client that does not read.
 */
const STREAM_BUFFER = '64KB'

/** Throws DatabaseError as EmptyEngine does. */
export async function openReadOnly({ files, ...settings }: ReadOnlyOptions) {
  const engine = await EmptyEngine.open(settings)
  return await engine.openReadOnly(files)
}

/** An engine before it knows its files. Creating it takes much longer than attaching files, so it may be created ahead. */
export class EmptyEngine implements AsyncDisposable {
  readonly #pool: ConnectionPool
  readonly #names: string[]
  readonly #tempDir: string

  private constructor(pool: ConnectionPool, names: string[], tempDir: string) {
    this.#pool = pool
    this.#names = names
    this.#tempDir = tempDir
  }

  static async open(settings: EngineSettings): Promise<EmptyEngine> {
    const { threads, memoryLimit, connections: size, extensions } = settings
    const tempDir = join(settings.tempDir, `engine-${randomUUID()}`)
    await using resources = new Resources()
    resources.defer(() => rm(tempDir, { recursive: true, force: true }))
    const options = { path: ':memory:', threads, memoryLimit, tempDir, extensions }
    const database = resources.use(await Database.open(options))
    if (extensions?.names.includes('spatial') === true) await countLongitudeFirst(database)
    const names: string[] = []
    resources.defer(() => dropCache(database, names))
    const buffer = sql`SET streaming_buffer_size = ${sql.value(STREAM_BUFFER)}`
    const pool = new ConnectionPool(database, { size, settings: [buffer], resources })
    return new EmptyEngine(pool, names, tempDir)
  }

  /**
   * Attaches `files` for reading, then locks the engine: no file, network, extension or setting is within reach of a
   * statement, but for files in `dir` where one is given; code of extensions that are loaded is under the same lock. `inMemory` are catalogs of its own memory. What stays possible (temporary tables, DETACH) needs statements other than SELECT, which TextStream
   * refuses. Call it once; the pool then owns the engine, which is closed when this fails. Throws DatabaseError when
   * a file is missing or damaged.
   */
  async openReadOnly(
    files: readonly AttachedFile[],
    { dir = null, inMemory = [] }: Reach = {},
  ): Promise<ConnectionPool> {
    await using resources = new Resources()
    resources.use(this)
    await using lent = await this.#pool.take()
    const { connection } = lent
    for (const { name, path } of files) {
      await connection.run(sql`ATTACH ${sql.value(path)} AS ${sql.ident(name)} (READ_ONLY)`)
      this.#names.push(name)
    }
    for (const name of inMemory) await connection.run(sql`ATTACH ':memory:' AS ${sql.ident(name)}`)
    // For connections that the pool opens later. A SET is not a SELECT, so no query can make one.
    await connection.run(sql`SET GLOBAL allowed_configs = ['streaming_buffer_size']`)
    if (dir !== null)
      await connection.run(sql`SET GLOBAL allowed_directories = [${sql.value(dir)}]`)
    await connection.run(sql`SET GLOBAL enable_external_access = false`)
    await connection.run(sql`SET GLOBAL lock_configuration = true`)
    await requireLockedDown(connection, dir === null ? [this.#tempDir] : [dir, this.#tempDir])
    resources.move()
    return this.#pool
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]()
  }
}

/** As places are stored and as OData writes them. By itself the extension takes the first number for the latitude. */
async function countLongitudeFirst(database: Database): Promise<void> {
  await using connection = await database.connect()
  await connection.run(sql`SET GLOBAL geometry_always_xy = true`)
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
 * Asks DuckDB whether it is locked, instead of trusting that it understood: another version may know a setting by
 * another name. Throws when it is not, when a directory other than `dirs` is within reach, or when it holds a database
 * that can be written, other than its own memory.
 */
export async function requireLockedDown(
  connection: Connection,
  dirs: readonly string[] | null = null,
): Promise<void> {
  const settings = Object.keys(LOCKED).map(
    (name) => sql`CAST(current_setting(${sql.value(name)}) AS VARCHAR) AS ${sql.ident(name)}`,
  )
  const row = await connection.row(sql`SELECT ${sql.join(settings)},
    current_setting('allowed_directories') AS directories, ARRAY(
    SELECT database_name FROM duckdb_databases()
    WHERE NOT readonly AND NOT internal AND path IS NOT NULL) AS written`)
  const open = Object.keys(LOCKED).filter((name) => row?.[name] !== LOCKED[name])
  const reached = (row?.['directories'] ?? []) as readonly string[]
  const others = dirs === null ? [] : await othersAmong(reached, dirs)
  const wrong = [...open, ...others, ...((row?.['written'] ?? []) as string[])]
  if (wrong.length > 0) throw new Error(`DuckDB is not locked down: ${wrong.join(', ')}`)
}

async function othersAmong(
  reached: readonly string[],
  dirs: readonly string[],
): Promise<readonly string[]> {
  const given = dirs.map(withSlash)
  const others = reached.map(withSlash).filter((dir) => !given.includes(dir))
  if (others.length === 0) return []
  // The engine says where a directory is that was given by a symbolic link.
  const real = (await Promise.all(dirs.map(realPath))).map(withSlash)
  return others.filter((dir) => !real.includes(dir))
}

/** A directory in the form in which DuckDB writes it on each system. */
const withSlash = (dir: string) => `${dir.replaceAll('\\', '/').replace(/\/$/, '')}/`

/** The real path of a directory that may not exist yet. */
const realPath = (path: string): Promise<string> =>
  realpath(path).catch(async () =>
    dirname(path) === path ? path : join(await realPath(dirname(path)), basename(path)),
  )

interface FileWriterOptions extends Omit<EngineSettings, 'threads' | 'connections'> {
  readonly files: readonly AttachedFile[]
  /** Absolute; it is empty, so that there is nothing in it to read. */
  readonly dir: string
}

/**
 * An instance that writes rows of attached database files into one directory. The query comes from a stranger, if in our
 * words: it reads the attached files and that directory and nothing else, and writes nowhere else. Throws DatabaseError.
 */
export async function openFileWriter({
  files,
  dir,
  ...settings
}: FileWriterOptions): Promise<ConnectionPool> {
  // One thread, so that the same query on the same rows makes the same bytes.
  const engine = await EmptyEngine.open({ ...settings, threads: 1, connections: 1 })
  return await engine.openReadOnly(files, { dir })
}

/** A statement that writes `rows` to a file in that directory, with these options of COPY. */
export const writtenTo = (path: string, rows: Sql, options: Sql): Sql =>
  sql`COPY (${rows}) TO ${sql.value(path)} (${options})`
