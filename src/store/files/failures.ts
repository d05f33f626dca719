// What DuckDB says of a database file that it cannot open, in plain words.

import { EnvironmentError } from '../../core/failures.ts'
import type { DatabaseError } from '../../duckdb/errors.ts'
import { isDiskFull } from '../../files/system-errors.ts'

export const isLocked = (error: DatabaseError) => /Could not set lock on file/.test(error.message)

// DuckDB has one type, IO, for all of these; only its words tell them apart.
const DAMAGE =
  /not a valid DuckDB database|Corrupt|checksum|Could not read enough bytes|Serialization|Failure while replaying WAL/i

export const AS_RUN = 'stop that process or wait longer with --wait SECONDS'
export const AS_READER = 'try again when it has ended'

/** `hint`: what to do while another process holds the file. */
export function openError(error: DatabaseError, path: string, hint: string): EnvironmentError {
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
  return failure(
    'warehouse-unusable',
    `the warehouse ${path} cannot be opened: ${words}`,
    'check the path and its permissions',
  )
}
