// Dates and times that clients know: the years 1 to 9999, and times of day before midnight. The engine has more of them:
// its infinities, years before and beyond, and 24:00:00. Such a value is read as the nearest one that clients know, here
// and for all uses of the column, so that what an answer shows is what a filter finds. A column that has none, as
// nearly all, is read as it is.

import { type Sql, sql } from '../core/sql.ts'
import type { EdmName, EdmType } from './type-map.ts'

interface TemporalRange {
  readonly first: Sql
  readonly last: Sql
}

const ranges: Partial<Readonly<Record<EdmName, TemporalRange>>> = {
  'Edm.Date': { first: sql`DATE '0001-01-01'`, last: sql`DATE '9999-12-31'` },
  'Edm.DateTimeOffset': {
    first: sql`TIMESTAMP '0001-01-01 00:00:00'`,
    last: sql`TIMESTAMP '9999-12-31 23:59:59.999999'`,
  },
  'Edm.TimeOfDay': { first: sql`TIME '00:00:00'`, last: sql`TIME '23:59:59.999999'` },
}

export const isTemporal = ({ name }: EdmType) => ranges[name] !== undefined

/** `value`, which is of the engine type of the temporal `type`, or the nearest one in range. NULL stays NULL. */
export function clampSql(value: Sql, type: EdmType): Sql {
  const { first, last } = rangeOf(type)
  return sql`CASE WHEN ${value} > ${last} THEN ${last} WHEN ${value} < ${first} THEN ${first} ELSE ${value} END`
}

/** `value` when it is in range, else NULL. */
export function inRangeSql(value: Sql, type: EdmType): Sql {
  const { first, last } = rangeOf(type)
  return sql`CASE WHEN ${value} BETWEEN ${first} AND ${last} THEN ${value} END`
}

/** An aggregate: whether a column of any engine type that is served as the temporal `type` has values out of range. */
export function hasOutsidersSql(column: Sql, type: EdmType): Sql {
  const { first, last } = rangeOf(type)
  const engine = sql.type(type.engine)
  return sql`(CAST(min(${column}) AS ${engine}) < ${first} OR CAST(max(${column}) AS ${engine}) > ${last})`
}

function rangeOf(type: EdmType): TemporalRange {
  const range = ranges[type.name]
  if (range === undefined) throw new Error(`${type.name} is no type of dates or times`)
  return range
}
