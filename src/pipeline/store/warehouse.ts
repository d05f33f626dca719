// The database that a run writes. Opening it waits for other processes and says in plain words what is wrong.

import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { attachSources } from '../../compiler/attach-sources.ts'
import { type Diagnostic, throwIfErrors } from '../../core/diagnostics.ts'
import type { ExternalSource } from '../../core/external.ts'
import { makeDirectory } from '../../files/durable-directory.ts'
import { EnvironmentError } from '../../core/failures.ts'
import { limits } from '../../core/limits.ts'
import type { CompiledProject } from '../../core/model.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { Resources } from '../../core/resources.ts'
import { sql } from '../../core/sql.ts'
import { hintOfSystem, problemOfSystem } from '../../core/system-errors.ts'
import { type Connection, Database } from '../../duckdb/database.ts'
import { DatabaseError } from '../../duckdb/errors.ts'

const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 1_000

export interface WarehouseOptions {
  readonly paths: ProjectPaths
  readonly threads: number | null
  readonly memoryLimit: string | null
  /** Where the engine spills to, and how much; its own choice when not given. */
  readonly tempDir?: string | null
  readonly maxTempSize?: string | null
  /** How long another process may hold the file. */
  readonly lockWaitMs: number
  readonly signal: AbortSignal
  /** Its sources are attached. */
  readonly project?: Pick<CompiledProject, 'external'>
}

/** Throws EnvironmentError: `warehouse-locked`, `warehouse-damaged`, `disk-full` or `warehouse-unusable`. */
export async function openWarehouse(options: WarehouseOptions): Promise<Database> {
  const { paths, threads, memoryLimit, lockWaitMs, signal } = options
  const { tempDir = null, maxTempSize = null } = options
  for (const path of [paths.database, paths.snapshots]) refuseQuestionMark(path)
  await prepareDirectory(dirname(paths.database))
  const deadline = Date.now() + lockWaitMs
  for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)) {
    try {
      const database = await Database.open({
        path: paths.database,
        searchDir: paths.dir,
        threads,
        memoryLimit,
        tempDir,
        maxTempSize,
      })
      return await withSources(database, paths.dir, options.project?.external?.sources ?? [])
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error
      if (!isLocked(error) || Date.now() >= deadline) throw explain(error, paths.database, AS_RUN)
    }
    await sleep(Math.max(0, Math.min(retryMs, deadline - Date.now())), undefined, { signal })
  }
}

/**
 * At the end of a run. A run that wrote its own record and nothing else leaves the log beside the file, and whoever opens
 * the file next replays it: a checkpoint describes every relation anew, which takes a project of a thousand models longer
 * than all its queries. Any other run makes the checkpoint here, and not when the file is closed, which would hold up this
 * thread; what fails stays in the log, whole, as it does there. `recordBytes`: of the record; null for a run that wrote more.
 */
export async function settleLog(
  connection: Connection,
  { database }: ProjectPaths,
  recordBytes: number | null,
): Promise<void> {
  const logBytes = statSync(`${database}.wal`, { throwIfNoEntry: false })?.size
  const leftBytes = (recordBytes ?? 0) * limits.leftLogRuns
  if (logBytes !== undefined && logBytes <= leftBytes)
    await connection.run(sql`PRAGMA disable_checkpoint_on_shutdown`)
  else await connection.run(sql`CHECKPOINT`).catch(() => {})
}

/**
 * For commands that change nothing. A project that has never run gets an empty database in memory. Throws
 * EnvironmentError as openWarehouse() does.
 */
export async function openWarehouseToRead(
  paths: ProjectPaths,
  { memoryLimit, tempDir = null }: Pick<WarehouseOptions, 'memoryLimit' | 'tempDir'>,
  sources: readonly ExternalSource[] = [],
): Promise<Database> {
  const exists = hasWarehouse(paths)
  try {
    const database = await Database.open({
      path: exists ? paths.database : ':memory:',
      readOnly: exists,
      searchDir: paths.dir,
      memoryLimit,
      tempDir,
    })
    // One that cannot be read stands in the way of those queries only that read it.
    await attachAll(database, paths.dir, sources)
    return database
  } catch (error) {
    throw error instanceof DatabaseError ? explain(error, paths.database, AS_READER) : error
  }
}

/** False: nothing was built yet. Throws EnvironmentError `warehouse-unusable` where that cannot be told. */
export function hasWarehouse({ database }: ProjectPaths): boolean {
  try {
    statSync(database)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return false
    const message = `the warehouse cannot be read: ${problemOfSystem(cause)}`
    const hint = hintOfSystem(cause) ?? 'check the permissions of its directory'
    throw new EnvironmentError('warehouse-unusable', message, { hint, cause })
  }
}

/**
 * Makes the tables of the warehouse those of `connection`, whose engine goes on to write other files. Throws
 * EnvironmentError as openWarehouse() does.
 */
export async function attachWarehouseToRead(
  connection: Connection,
  { database }: ProjectPaths,
): Promise<void> {
  // A name that no schema of a project has: the engine would not know which of the two is meant.
  const name = sql.ident('_eider_warehouse')
  try {
    await connection.run(sql`ATTACH ${sql.value(database)} AS ${name} (READ_ONLY)`)
  } catch (error) {
    throw error instanceof DatabaseError ? explain(error, database, AS_READER) : error
  }
  await connection.run(sql`USE ${name}`)
}

/** What was readable when the project was compiled may have gone since. */
async function withSources(
  database: Database,
  dir: string,
  sources: readonly ExternalSource[],
): Promise<Database> {
  await using resources = new Resources()
  resources.use(database)
  throwIfErrors(await attachAll(database, dir, sources))
  resources.move()
  return database
}

async function attachAll(
  database: Database,
  dir: string,
  sources: readonly ExternalSource[],
): Promise<readonly Diagnostic[]> {
  if (sources.length === 0) return []
  await using connection = await database.connect()
  return (await attachSources(connection, dir, sources)).diagnostics
}

/** To the engine it begins the options of a URL: the log of the file would be beside another one. */
function refuseQuestionMark(path: string): void {
  if (!path.includes('?')) return
  throw new EnvironmentError(
    'warehouse-unusable',
    `no database can be written where the path has a question mark: ${path}`,
    { hint: 'give the directory another name' },
  )
}

async function prepareDirectory(path: string): Promise<void> {
  try {
    await makeDirectory(path)
  } catch (cause) {
    const message = `the directory of the warehouse, ${path}, cannot be made: ${problemOfSystem(cause)}`
    const hint = hintOfSystem(cause) ?? 'set "database" in eider.yml to another path'
    throw new EnvironmentError('warehouse-unusable', message, { hint, cause })
  }
}

const isLocked = (error: DatabaseError) => /Could not set lock on file/.test(error.message)

// The engine has one type, IO, for all of these; only its words tell them apart.
const DAMAGE =
  /not a valid DuckDB database|Corrupt|checksum|Could not read enough bytes|Serialization|Failure while replaying WAL/i

const AS_RUN = 'end that process or wait longer with --wait SECONDS'
const AS_READER = 'try again when it has ended'

/** `hint`: what to do while another process holds the file. */
function explain(error: DatabaseError, path: string, hint: string): EnvironmentError {
  const [words = ''] = error.details.message.split('\n')
  const failure = (code: string, message: string, next: string) =>
    new EnvironmentError(code, message, { hint: next, cause: error })
  if (isLocked(error)) {
    const pid = /PID (\d+)/.exec(error.message)?.[1]
    const holder = pid === undefined ? 'another process' : `process ${pid}`
    return failure(
      'warehouse-locked',
      `${holder} holds the warehouse ${path}`,
      `${hint}; readers use .eider/snapshots/current.sql`,
    )
  }
  if (DAMAGE.test(error.message))
    return failure(
      'warehouse-damaged',
      `the warehouse ${path} is damaged: ${words}`,
      'restore it from a backup, or move it away (with its .wal file) and run again: models are rebuilt, flushed events are only in that file',
    )
  if (/No space left on device/.test(error.message))
    return failure('disk-full', `the disk of ${path} is full`, 'make room and run again')
  return failure(
    'warehouse-unusable',
    `the warehouse ${path} cannot be opened: ${words}`,
    'check the path and its permissions',
  )
}
