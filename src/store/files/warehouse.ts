// The warehouse as a database file. Opening it waits for other processes.

import { constants, statSync } from 'node:fs'
import { copyFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EnvironmentError } from '../../core/failures.ts'
import { limits } from '../../core/limits.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { Resources } from '../../core/resources.ts'
import { sql } from '../../core/sql.ts'
import { hintOfSystem, problemOfSystem, isDiskFull } from '../../files/system-errors.ts'
import { type Connection, Database } from '../../duckdb/database.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import { makeDirectory } from '../../files/durable-files.ts'
import type { LeaseOptions, RunLease } from '../run-lease.ts'
import type { ReadOptions, Warehouse, WriteOptions, Written } from '../warehouse.ts'
import { openLastState } from './last-state.ts'
import { hasBadLog, repairLogs, waitingRepair } from './log-repair.ts'
import { isThere } from './traits.ts'
import { isUnmadeFile, removeUnmade, setUnmadeAside } from './unmade.ts'

export const fileWarehouse = (paths: ProjectPaths, lease: RunLease): Warehouse => ({
  name: paths.database,
  readersHoldRuns: true,
  exists: () => Promise.resolve(isThere(paths)),
  open: (options) => open(paths, options),
  openToRead: (options) => repaired(paths, lease, options, () => openToRead(paths, options)),
  openBeside: (options) => repaired(paths, lease, options, () => openBeside(paths, options)),
  openLastState: (options) => openLastState(paths.state, options, paths.dir),
  checkpoint: (connection, written) => checkpoint(paths, connection, written),
  fork: (path, options) => fork(paths, path, lease, options),
})

async function open(paths: ProjectPaths, options: WriteOptions): Promise<Database> {
  const { threads = null, memoryLimit, tempDir = null, maxTempSize = null } = options
  const { lockWaitMs, signal, extensions } = options
  for (const path of [paths.database, paths.snapshots]) refuseQuestionMark(path)
  await prepareDirectory(dirname(paths.database))
  const deadline = performance.now() + lockWaitMs
  const repair = waitingRepair(paths.database)
  const { warehouseRetryMs, longestWarehouseRetryMs } = limits
  for (
    let retryMs: number = warehouseRetryMs;
    ;
    retryMs = Math.min(retryMs * 2, longestWarehouseRetryMs)
  ) {
    const makes = !isThere(paths)
    try {
      await repair()
      const engine = { searchDir: paths.dir, threads, memoryLimit, tempDir, maxTempSize }
      return await Database.open({ path: paths.database, ...engine, extensions })
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error
      // What cannot be made now, as when the disk is full, was not torn by a power cut, and would not be made again either.
      if (!isLocked(error) && makes) await removeUnmade(paths)
      else if (!isLocked(error) && (await setUnmadeAside(paths))) continue
      if (!isLocked(error) || performance.now() >= deadline)
        throw openError(error, paths.database, AS_RUN)
    }
    await sleep(Math.max(0, Math.min(retryMs, deadline - performance.now())), undefined, { signal })
  }
}

/**
 * A run that wrote its own record and little else leaves the log next to the file, and the process that opens the file
 * next replays it: a checkpoint describes every relation again, which takes a project of a thousand models longer than its
 * queries. Any other run makes the checkpoint here, and not when the file is closed, which would hold up this thread;
 * what fails stays in the log, whole, as it does there.
 */
async function checkpoint(
  { database }: ProjectPaths,
  connection: Connection,
  written: Written,
): Promise<void> {
  const logBytes = statSync(`${database}.wal`, { throwIfNoEntry: false })?.size
  const leftBytes = typeof written === 'number' ? written * limits.leftLogRuns : 0
  if (written === 'nothing' || (logBytes !== undefined && logBytes <= leftBytes))
    await connection.run(sql`PRAGMA disable_checkpoint_on_shutdown`)
  else await connection.run(sql`CHECKPOINT`).catch(() => {})
}

/**
 * A reader has no lease. So it looks at the log once the file has opened, which no run has then, or did not open, and takes
 * the lease for a repair.
 */
async function repaired(
  paths: ProjectPaths,
  lease: RunLease,
  { hasLease = false }: ReadOptions,
  open: () => Promise<Database>,
): Promise<Database> {
  const { database } = paths
  let opened: Database | null = null
  let failure: unknown = null
  try {
    opened = await open()
  } catch (error) {
    if (!(error instanceof EnvironmentError) || error.code === 'warehouse-locked') throw error
    failure = error
  }
  const isUnmade = opened === null && (await isUnmadeFile(paths))
  if (!isUnmade && !(await hasBadLog(database))) {
    if (opened === null) throw failure
    return opened
  }
  await opened?.[Symbol.asyncDispose]()
  await using _lease = hasLease ? null : await takeToRepair(lease)
  if (isUnmade) await setUnmadeAside(paths)
  await repairLogs(database).catch((error: unknown) => {
    throw error instanceof DatabaseError ? openError(error, database, AS_READER) : error
  })
  return await open()
}

/** A run that has it opens the warehouse next, and repairs its log. */
async function takeToRepair(lease: RunLease): Promise<AsyncDisposable> {
  try {
    return await lease.take({ waitMs: 0, signal: new AbortController().signal })
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error
    throw new EnvironmentError('warehouse-locked', error.message, { hint: AS_READER, cause: error })
  }
}

/** Without a file there is an empty database in memory. */
async function openToRead(
  paths: ProjectPaths,
  { memoryLimit, threads = null, tempDir = null, extensions }: ReadOptions,
): Promise<Database> {
  const exists = isThere(paths)
  const path = exists ? paths.database : ':memory:'
  const engine = { searchDir: paths.dir, threads, memoryLimit, tempDir, extensions }
  try {
    return await Database.open({ path, readOnly: exists, ...engine })
  } catch (error) {
    throw error instanceof DatabaseError ? openError(error, paths.database, AS_READER) : error
  }
}

async function openBeside(
  paths: ProjectPaths,
  { memoryLimit, threads = null, tempDir = null, extensions }: ReadOptions,
): Promise<Database> {
  const engine = { searchDir: paths.dir, threads, memoryLimit, tempDir, extensions }
  await using resources = new Resources()
  const database = resources.use(await Database.open({ path: ':memory:', ...engine }))
  if (isThere(paths)) {
    await using connection = await database.connect()
    // A name that no schema of a project has: DuckDB would not know which of the two is meant.
    const name = sql.ident('_eider_warehouse')
    try {
      await connection.run(sql`ATTACH ${sql.value(paths.database)} AS ${name} (READ_ONLY)`)
    } catch (error) {
      throw error instanceof DatabaseError ? openError(error, paths.database, AS_READER) : error
    }
    database.onConnect([sql`USE ${name}`])
  }
  resources.move()
  return database
}

async function fork(
  from: ProjectPaths,
  path: string,
  lease: RunLease,
  options: LeaseOptions,
): Promise<void> {
  await using _lease = await lease.take(options)
  // Opening it shows that no other program writes it now; closing it leaves no descriptor whose lock a copy would drop.
  const reading = { memoryLimit: null, hasLease: true }
  const opened = await repaired(from, lease, reading, () => openToRead(from, reading))
  await opened[Symbol.asyncDispose]()
  for (const suffix of ['', '.wal']) {
    await rm(path + suffix, { force: true })
    await copyIfThere(from.database + suffix, path + suffix)
  }
}

async function copyIfThere(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

/** DuckDB takes it for the start of URL options: the log of the file would be next to another one. */
function refuseQuestionMark(path: string): void {
  if (!path.includes('?')) return
  throw new EnvironmentError(
    'warehouse-unusable',
    `the path of a database must not contain a question mark: ${path}`,
    { hint: 'rename the directory' },
  )
}

async function prepareDirectory(path: string): Promise<void> {
  try {
    await makeDirectory(path)
  } catch (cause) {
    const message = `the directory of the warehouse, ${path}, cannot be created: ${problemOfSystem(cause)}`
    const hint = hintOfSystem(cause) ?? 'set "database" in eider.yml to another path'
    throw new EnvironmentError('warehouse-unusable', message, { hint, cause })
  }
}

// What DuckDB says of a database file that it cannot open, in plain words.

const isLocked = (error: DatabaseError) => /Could not set lock on file/.test(error.message)

// DuckDB has one type, IO, for all of these; only its words tell them apart.
const DAMAGE =
  /not a valid DuckDB database|Corrupt|checksum|Could not read enough bytes|Serialization|Failure while replaying WAL/i

const AS_RUN = 'stop that process or wait longer with --wait SECONDS'
const AS_READER = 'try again when it has ended'

/** `hint`: what to do while another process holds the file. */
function openError(error: DatabaseError, path: string, hint: string): EnvironmentError {
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
      'restore it from a backup, or move it away (with its .wal file) and run again with --allow-empty: models are rebuilt, flushed events are only in that file',
    )
  if (/can only read versions? between/.test(error.message))
    return failure(
      'warehouse-unusable',
      `a newer DuckDB than that of eider wrote the warehouse ${path}`,
      'use the version of eider or DuckDB that wrote it, or restore an earlier backup',
    )
  if (isDiskFull(error))
    return failure('disk-full', `the disk of ${path} is full`, 'make room and run again')
  if (/Permission denied/.test(words)) {
    const refused = Object.assign(new Error(words), { code: 'EACCES' })
    const problem = problemOfSystem(refused, path)
    return failure('warehouse-unusable', problem, hintOfSystem(refused, path)!)
  }
  return failure(
    'warehouse-unusable',
    `the warehouse ${path} cannot be opened: ${words}`,
    hintOfSystem(error) ?? 'check the path and its permissions',
  )
}
