// JSON behind a byte order mark: DuckDB takes an array there for one value, unless it is told that the file is an array.

import { type Sql, sql } from '../../core/sql.ts'
import { startOf } from '../csv/start-of-file.ts'

/** A mark, and blank lines before the bracket. */
const START_BYTES = 256

/** Whether a file of this machine is an array that begins with a mark. */
export const isMarkedArray = (path: string): boolean =>
  /^\xef\xbb\xbf\s*\[/.test(startOf(path, START_BYTES).toString('latin1'))

/** The option of read_json for such a file, with a comma before it; none for others. */
export const jsonOptions = (path: string): Sql =>
  isMarkedArray(path) ? sql`, format = 'array'` : sql.empty
