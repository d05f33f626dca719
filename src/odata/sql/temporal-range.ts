// Dates and times that clients know: the years 1 to 9999, and times of day before midnight. DuckDB has more:
// its infinities, years before and beyond, and 24:00:00. Such a value is read as the nearest one that clients know, here
// and for all uses of the column, so that what an answer shows is what a filter finds. A column that has none, as
// nearly all, is read as it is.

import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { EdmType } from '../edm/types.ts'

interface TemporalRange {
  readonly first: Sql
  readonly last: Sql
  /** The value after the last one. */
  readonly beyond: Sql
}

const ranges: Readonly<Record<string, TemporalRange>> = {
  'Edm.Date': {
    first: sql`DATE '0001-01-01'`,
    last: sql`DATE '9999-12-31'`,
    beyond: sql`DATE '10000-01-01'`,
  },
  'Edm.DateTimeOffset': {
    first: sql`TIMESTAMP '0001-01-01 00:00:00'`,
    last: sql`TIMESTAMP '9999-12-31 23:59:59.999999'`,
    beyond: sql`TIMESTAMP '10000-01-01 00:00:00'`,
  },
  'Edm.TimeOfDay': {
    first: sql`TIME '00:00:00'`,
    last: sql`TIME '23:59:59.999999'`,
    beyond: sql`TIME '24:00:00'`,
  },
}

export const hasRange = ({ name }: EdmType) => ranges[name] !== undefined

/** `value`, which is of the DuckDB type of the temporal `type`, or the nearest one in range. NULL stays NULL. */
export function clampSql(value: Sql, type: EdmType): Sql {
  const { first, last } = rangeOf(type)
  return sql`CASE WHEN ${value} > ${last} THEN ${last} WHEN ${value} < ${first} THEN ${first} ELSE ${value} END`
}

/** `value` when it is in range, else NULL. */
export function inRangeSql(value: Sql, type: EdmType): Sql {
  const { first, last } = rangeOf(type)
  return sql`CASE WHEN ${value} BETWEEN ${first} AND ${last} THEN ${value} END`
}

/** Whether `value`, of the temporal `type` or of the type that a calculation with it has, is out of range. */
export function isOutsideSql(value: Sql, type: EdmType): Sql {
  const { first, beyond } = rangeOf(type)
  return sql`(${value} < ${first} OR ${value} >= ${beyond})`
}

/**
 * Whether `rows` have a value out of range in a column that is served as the temporal `type`. The bounds are compared
 * in the type of the column, so that DuckDB need not read rows: it knows the least and greatest value of each group.
 */
export function hasOutsidersSql(rows: Sql, { name, type: stored }: Column, type: EdmType): Sql {
  const { first, beyond } = rangeOf(type)
  // Nanoseconds in 64 bits reach from 1677 to 2262, and no bound is among them.
  const compared = stored === 'TIMESTAMP_NS' ? type.engine : stored
  const as = (value: Sql) => sql`CAST(${value} AS ${sql.type(compared)})`
  const value = compared === stored ? sql.ident(name) : as(sql.ident(name))
  return sql`(EXISTS (SELECT 1 FROM ${rows} WHERE ${value} < ${as(first)})
    OR EXISTS (SELECT 1 FROM ${rows} WHERE ${value} >= ${as(beyond)}))`
}

function rangeOf(type: EdmType): TemporalRange {
  const range = ranges[type.name]
  if (range === undefined) throw new Error(`${type.name} is not a date or time type`)
  return range
}
