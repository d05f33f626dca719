// Which texts are values of a type exactly as written: DuckDB rounds 1.5 to an integer and drops the time of a
// DATE, silently.

import type { ColumnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'

/** Types that DuckDB rounds text to, or whose rest it does not read, with one that keeps what they drop. */
const WIDER = [
  [/^(?:DATE|TIMESTAMP_M?S)$/, sql`TIMESTAMP`],
  [/INT(?:EGER)?$|^DECIMAL/, sql`DOUBLE`],
] as const

/** A condition: DuckDB cannot read `text`, a VARCHAR, as a value of `type`, or would change it. */
export function isNoValue(text: Sql, type: ColumnType): Sql {
  const value = sql`TRY_CAST(${text} AS ${sql.type(type)})`
  const wider = WIDER.find(([types]) => types.test(type))?.[1]
  return wider === undefined
    ? sql`${value} IS NULL`
    : sql`(${value} IS NULL OR TRY_CAST(${text} AS ${wider})
        IS DISTINCT FROM TRY_CAST(CAST(${value} AS VARCHAR) AS ${wider}))`
}
