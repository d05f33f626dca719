// Ranges of values, both ends included, as rows of "low" and "high": what is left of some without others, and the periods or
// groups that have them.

import { limits } from '../../core/limits.ts'
import type { Model } from '../../core/model.ts'
import type { ColumnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { type Row, textOf } from '../../duckdb/values.ts'
import type { ClosedRange } from '../../store/changes.ts'
import { nextStart, periodStart } from '../build/materialize/period-start.ts'
import { islands, isTime } from './ranges.ts'

/** A query of "low" and "high", as texts. */
export const rangeRows = (ranges: readonly ClosedRange[]): Sql =>
  sql`SELECT low, high FROM (VALUES ${sql.rows(ranges.map(({ low, high }) => [low, high]))}) AS given(low, high)`

/** A query of "low" and "high", as values of the type. */
export const rangesOf = (ranges: readonly ClosedRange[], type: ColumnType): Sql => {
  const value = (end: 'low' | 'high') =>
    sql`CAST(${sql.ident(end)} AS ${sql.type(type)}) AS ${sql.ident(end)}`
  return sql`SELECT ${value('low')}, ${value('high')} FROM (${rangeRows(ranges)})`
}

const asTexts = (rows: readonly Row[]): readonly ClosedRange[] =>
  rows.map(({ low, high }) => ({ low: textOf(low), high: textOf(high) }))

/**
 * `ranges`: a query of "low" and "high". One range for those that meet, with nothing between them that none has; of many the
 * highest.
 */
export async function joinedWhole(
  { connection }: { readonly connection: Connection },
  ranges: Sql,
  type: ColumnType,
): Promise<readonly ClosedRange[]> {
  // Only of what lies above another value is it sure that there is one before it.
  const isApart = sql`CASE WHEN low > before THEN ${neighbour(sql`low`, type, -1)} > before ELSE false END`
  return asTexts(
    await connection.rows(sql`
      SELECT CAST(low AS VARCHAR) AS low, CAST(high AS VARCHAR) AS high
      FROM (${islands(sql`(${ranges})`, isApart)}) AS joined
      ORDER BY joined.low DESC LIMIT ${sql.value(limits.changedRanges)}`),
  )
}

/** `touched` and `out`: queries of "low" and "high". What is left of the first ones. */
export async function without(
  { connection }: { readonly connection: Connection },
  { touched, out, type }: { readonly touched: Sql; readonly out: Sql; readonly type: ColumnType },
): Promise<readonly ClosedRange[]> {
  // Nothing is left out before the first one, nor behind the last one.
  const rows = await connection.rows(sql`
    WITH gaps AS (
      SELECT max(high) OVER (ORDER BY low, high ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS after, low AS until
      FROM (${out}) UNION ALL SELECT max(high), NULL FROM (${out}))
    SELECT CAST(low AS VARCHAR) AS low, CAST(high AS VARCHAR) AS high FROM (
      SELECT CASE WHEN after >= low THEN ${neighbour(sql`after`, type, 1)} ELSE low END AS low,
        CASE WHEN until <= high THEN ${neighbour(sql`until`, type, -1)} ELSE high END AS high
      FROM (${touched}) AS t, gaps
      WHERE (until IS NULL OR until > low) AND (after IS NULL OR after < high) AND (after < until) IS NOT FALSE)
    WHERE low <= high ORDER BY low`)
  return asTexts(rows)
}

/** The first value of the part that has this one: the type may end within a period of numbers. */
export const partStart = (model: Model, value: Sql, type: ColumnType): Sql =>
  model.kind === 'period'
    ? sql`coalesce(TRY_CAST(${periodStart(value, model.period, type)} AS ${sql.type(type)}), ${value})`
    : value

/** The last value of the part that has this one. */
export function partEnd(model: Model, value: Sql, type: ColumnType): Sql {
  if (model.kind !== 'period') return value
  const next = nextStart(periodStart(value, model.period, type), model.period, type)
  return typeof model.period.every === 'number'
    ? sql`coalesce(TRY_CAST(${next} - 1 AS ${sql.type(type)}), ${value})`
    : neighbour(next, type, -1)
}

/** The value next to one that has another one in this direction. */
export function neighbour(value: Sql, type: ColumnType, direction: 1 | -1): Sql {
  const cast = (moved: Sql) => sql`CAST(${moved} AS ${sql.type(type)})`
  if (type === 'FLOAT' || type === 'DOUBLE')
    return sql`nextafter(${value}, ${cast(sql.value(direction > 0 ? 'infinity' : '-infinity'))})`
  if (type === 'TIMESTAMP_NS')
    return sql`make_timestamp_ns(epoch_ns(${value}) + ${sql.value(direction)})`
  const step = stepOf(type)
  return cast(direction > 0 ? sql`${value} + ${step}` : sql`${value} - ${step}`)
}

/** By how much values of a type differ at least. Less than that a cast would round, maybe to the value itself. */
function stepOf(type: ColumnType): Sql {
  if (type === 'TIMESTAMP_S') return sql`INTERVAL 1 SECOND`
  if (type === 'TIMESTAMP_MS') return sql`INTERVAL 1 MILLISECOND`
  if (type !== 'DATE' && isTime(type)) return sql`INTERVAL 1 MICROSECOND`
  const scale = Number(/^DECIMAL\(\d+, ?(\d+)\)$/.exec(type)?.[1] ?? 0)
  return scale === 0 ? sql`1` : sql`CAST(${sql.value(`1e-${scale}`)} AS ${sql.type(type)})`
}
