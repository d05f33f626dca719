// A log of the warehouse of which a power cut has left half a commit. DuckDB refuses to open the file then, though all that
// was synced is in it. Nobody was told of that commit: what reads and what forgets acts after the sync. So the log is cut
// where the commit before it ends; as much of it as there is, whole, is kept in a copy next to it:
//
//   <database>.wal.torn-<CRC-32 of the copy>
//
// What was synced and is no longer as it was is another matter, and stays an error: duckdb/log-file.ts tells the two apart.

import { constants, createReadStream, statSync } from 'node:fs'
import { copyFile, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { crcDigits } from '../../core/hash.ts'
import { EnvironmentError } from '../../core/failures.ts'
import { Database } from '../../duckdb/database.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import { type LogState, readLogState } from '../../duckdb/log-file.ts'
import { renameDurably } from '../../files/durable-files.ts'
import { syncPath } from '../../files/durable-files.ts'
import { problemOfSystem } from '../../files/system-errors.ts'

/** The second one is written to while a checkpoint is made, and is the log after it. */
const SUFFIXES = ['.wal', '.wal.checkpoint']

type Bad = Extract<LogState, { is: 'torn' | 'damaged' }>

/**
 * Before the database is opened, and under its lease. Throws DatabaseError when another program has it open or the
 * file is damaged too, and EnvironmentError `warehouse-damaged` when what was synced cannot be read.
 */
export async function repairLogs(database: string): Promise<void> {
  if (await hasBadLog(database)) await repairBadLogs(database)
}

/** The same for who waits for its lock: a log, which may be long, is judged again only when it has changed. */
export function waitingRepair(database: string): () => Promise<void> {
  let judged = { stamp: '', isBad: false }
  return async () => {
    const stamps = logsOf(database).map(stampOfLog)
    const stamp = stamps.join(' ')
    const isNew = stamp !== judged.stamp
    if (isNew) judged = { stamp, isBad: await hasBadLog(database) }
    if (judged.isBad) await repairBadLogs(database)
    if (isNew && stamps.some((one) => one !== NONE)) await settle(database)
  }
}

/**
 * A process that was killed before it synced has left commits that last as long as there is power. Whoever opens the database
 * reads them as committed, and forgets events because of them.
 */
async function settle(database: string): Promise<void> {
  for (const path of [database, ...logsOf(database)])
    await syncPath(path).catch((cause: NodeJS.ErrnoException) => {
      // The engine says of a file that cannot be opened that it is so.
      if (cause.syscall === 'open') return
      const message = `${path} cannot be brought to disk: ${problemOfSystem(cause)}`
      throw new EnvironmentError('warehouse-unusable', message, { cause })
    })
}

const NONE = 'none'

function stampOfLog(path: string): string {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (found === undefined) return NONE
    return [found.ino, found.size, found.mtimeNs, found.ctimeNs].join()
  } catch {
    return 'unreadable' // the engine says so
  }
}

async function repairBadLogs(database: string): Promise<void> {
  await refuseOther(database)
  for (const path of logsOf(database)) {
    const state = await readBad(path)
    if (state?.is === 'damaged') throw damaged(path, state)
    if (state !== null) await cut(path, state)
  }
}

export async function hasBadLog(database: string): Promise<boolean> {
  for (const path of logsOf(database)) if ((await readBad(path)) !== null) return true
  return false
}

export const logsOf = (database: string) => SUFFIXES.map((suffix) => database + suffix)

/** What keeps this process from reading it keeps the engine from it too, which says so. */
async function readBad(path: string): Promise<Bad | null> {
  const state = await readLogState(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === undefined) throw error
    return null
  })
  if (state === null) return null
  return state.is === 'torn' || state.is === 'damaged' ? state : null
}

/**
 * Another program than eider may just be writing to the log, or the log is not all that is damaged. DuckDB asks for its lock
 * and reads the file before it comes to the log.
 */
async function refuseOther(path: string): Promise<void> {
  try {
    await (await Database.open({ path, readOnly: true, threads: 1 }))[Symbol.asyncDispose]()
  } catch (error) {
    if (!(error instanceof DatabaseError) || !/replaying .*WAL/.test(error.message)) throw error
  }
}

async function cut(path: string, { committedBytes }: Bad): Promise<void> {
  let copy: string
  try {
    copy = await keepCopy(path)
    const log = await open(path, 'r+')
    try {
      await log.truncate(committedBytes)
      await log.sync()
    } finally {
      await log.close()
    }
    await syncPath(dirname(path))
  } catch (cause) {
    const message = `a power cut has torn the log ${path}, which cannot be cut: ${problemOfSystem(cause)}`
    const hint = 'let eider write to it and its directory, with room for a copy, and run again'
    throw new EnvironmentError('warehouse-unusable', message, { hint, cause })
  }
  process.stderr.write(
    `the log of the warehouse had a torn end, as after a power cut; nothing that was committed is lost; the log as it was is kept in ${copy}\n`,
  )
}

/** The same name again where the cut did not follow. */
async function keepCopy(path: string): Promise<string> {
  const next = `${path}.torn.tmp`
  await copyFile(path, next, constants.COPYFILE_FICLONE)
  let crc = 0
  for await (const part of createReadStream(next)) crc = crc32(part as Buffer, crc)
  const copy = `${path}.torn-${crcDigits(crc)}`
  await renameDurably(next, copy)
  return copy
}

function damaged(path: string, { badAt, committedBytes, lostCommits }: Bad & { is: 'damaged' }) {
  const commits = lostCommits === 1 ? 'a commit' : `${lostCommits} commits`
  const message = `the log ${path} is damaged at byte ${badAt}: ${commits} from there on, which were on disk, cannot be read`
  const hint = `restore it and the warehouse from a backup; without one, copy both away and cut the log: truncate -s ${committedBytes} keeps what was committed before`
  return new EnvironmentError('warehouse-damaged', message, { hint })
}
