// JSON behind a byte order mark: DuckDB takes an array there for one value, unless it is told that the file is an array.

import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { type Sql, sql } from '../../core/sql.ts'

/** A mark, and blank lines before the bracket. */
const START_BYTES = 256

/** Whether a file of this machine is an array that begins with a mark. */
export function isMarkedArray(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false
  const file = openSync(path, 'r')
  try {
    const start = Buffer.alloc(START_BYTES)
    return /^\xef\xbb\xbf\s*\[/.test(start.toString('latin1', 0, readSync(file, start)))
  } finally {
    closeSync(file)
  }
}

/** The option of read_json for such a file, with a comma before it; none for others. */
export const jsonOptions = (path: string): Sql =>
  isMarkedArray(path) ? sql`, format = 'array'` : sql.empty
