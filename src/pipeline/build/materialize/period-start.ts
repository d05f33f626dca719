// Where periods begin.

import type { Period } from '../../../core/model.ts'
import { type ColumnType, columnType } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'

const HUGE = columnType('HUGEINT')
const INTERVAL = columnType('INTERVAL')

/** The first value of the period that has the value. */
export function periodStart(value: Sql, { every }: Period, type: ColumnType): Sql {
  if (typeof every === 'string')
    return sql`CAST(date_trunc(${sql.value(every)}, ${value}) AS ${sql.type(type)})`
  const [wide, size] = [sql`CAST(${value} AS HUGEINT)`, sql.value(BigInt(every), HUGE)]
  return sql`(${wide} - ((${wide} % ${size} + ${size}) % ${size}))`
}

/** The first value of the period after the one that begins there. */
export function nextStart(start: Sql, { every }: Period, type: ColumnType): Sql {
  if (typeof every === 'string')
    return sql`CAST(${start} + ${sql.value(`1 ${every}`, INTERVAL)} AS ${sql.type(type)})`
  return sql`(${start} + ${sql.value(BigInt(every), HUGE)})`
}
