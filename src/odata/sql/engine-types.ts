// What statements name of DuckDB besides columns: types of numbers of rows and of texts, and how a file is written.

import { columnType } from '../../core/relation.ts'
import type { Sql } from '../../core/sql.ts'

export const BIGINT = columnType('BIGINT')
export const VARCHAR = columnType('VARCHAR')

export interface WrittenFile {
  readonly rows: Sql
  /** Those of COPY. */
  readonly options: Sql
  /** Rows of the statement that are none of the request. */
  readonly heads: number
}
