// Periods and groups of which an input with `@keep` has removed rows: made again, they would lose what was made of these
// rows. They keep what they have, and that is said.

import { type Followed, isGrouped } from '../../compiler/lineage/follow.ts'
import type { Model } from '../../core/model.ts'
import type { ColumnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { textOf } from '../../duckdb/values.ts'
import type { ClosedRange } from '../../store/changes.ts'
import { nextStart, periodStart } from '../build/materialize/period-start.ts'
import type { RunContext } from '../run-context.ts'
import { followingOf } from './following.ts'
import { hasParts, isTime, lead, readRanges } from './ranges.ts'

/** An input of which `@keep` has removed rows, and the values of the column of the reader that these may have had. */
interface Forgotten {
  readonly input: Followed
  readonly ranges: readonly ClosedRange[]
}

/** Whether rows that are read again replace what was made of rows that are gone. */
const replaces = (context: RunContext, model: Model): boolean =>
  model.kind === 'period' || (model.kind === 'merge' && isGrouped(context.project, model))

/** `ranges`: values of the column of the reader, of this type. Those that may be read again without a loss. */
export async function withoutPartlyForgotten(
  context: RunContext,
  model: Model,
  ranges: readonly ClosedRange[],
  type: ColumnType,
): Promise<readonly ClosedRange[]> {
  if (ranges.length === 0 || !hasParts(type) || !replaces(context, model)) return ranges
  let left = ranges
  for (const { input, ranges: gone } of await forgottenOf(context, model, type)) {
    const touched = sql.rows(left.map(({ low, high }) => [low, high]))
    const value = (end: 'low' | 'high') => sql`CAST(${sql.ident(end)} AS ${sql.type(type)})`
    const tables = sql`parts AS (${partsOf(model, gone, type)}),
      touched AS (SELECT ${value('low')} AS low, ${value('high')} AS high FROM (VALUES ${touched}) AS t(low, high))`
    const met = await context.connection.row(sql`
      WITH ${tables} SELECT CAST(min(start) AS VARCHAR) AS first, CAST(max(start) AS VARCHAR) AS last
      FROM parts WHERE EXISTS (SELECT 1 FROM touched WHERE low < next AND high >= start)`)
    if (met?.['first'] == null) continue
    context.changes.warn(
      model.name,
      textOfKept(model, input, [textOf(met['first']), textOf(met['last'])]),
    )
    // Both greatest() and least() leave NULL out: nothing is gone before the first part, nor behind the last one.
    const rows = await context.connection.rows(sql`
      WITH ${tables}, gaps AS (
        SELECT max(next) OVER (ORDER BY start, next ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS after, start AS until
        FROM parts UNION ALL SELECT max(next), NULL FROM parts)
      SELECT CAST(low AS VARCHAR) AS low, CAST(high AS VARCHAR) AS high FROM (
        SELECT greatest(low, after) AS low,
          CASE WHEN until > low THEN least(high, ${valueBefore(sql`until`, type)}) ELSE high END AS high
        FROM touched, gaps WHERE (until IS NULL OR until > low) AND (after IS NULL OR after <= high))
      WHERE low <= high ORDER BY low`)
    left = rows.map(({ low, high }) => ({ low: textOf(low), high: textOf(high) }))
    if (left.length === 0) return []
  }
  return left
}

/** Of the newest periods, which are made again whatever has changed: some of their rows may have gone already. */
export async function warnOfPartlyForgotten(
  context: RunContext,
  model: Model,
  newest: string,
  type: ColumnType,
): Promise<void> {
  if (!hasParts(type)) return
  for (const { input, ranges } of await forgottenOf(context, model, type)) {
    const row = await context.connection.row(sql`
      SELECT 1 FROM (${partsOf(model, ranges, type)}) WHERE next > ${sql.value(newest, type)} LIMIT 1`)
    if (row === null) continue
    context.changes.warn(
      model.name,
      `the newest periods are made of what ${input.model} still has, of which @keep has removed rows: shorter periods, a shorter lookback, or a longer @keep of ${input.model} lose nothing`,
    )
  }
}

function textOfKept(
  { name, kind }: Model,
  { model: input }: Followed,
  [first, last]: readonly [string, string],
): string {
  const what = kind === 'period' ? 'periods' : 'groups'
  return `${what} from ${first} to ${last} keep what they have where @keep of ${input} has removed rows of them, though others of their rows have changed; to make them of what is left: eider run ${name} --start VALUE --end VALUE`
}

async function forgottenOf(
  context: RunContext,
  model: Model,
  type: ColumnType,
): Promise<readonly Forgotten[]> {
  const { connection, project, store } = context
  const found: Forgotten[] = []
  for (const input of followingOf(project, model)?.followed ?? []) {
    if (!hasParts(input.type)) continue
    const noted = store.state.changes.forgottenOf(input.model, input.column)
    // The column may have had another type when they went.
    const value = (end: 'low' | 'high') =>
      sql`TRY_CAST(${sql.ident(end)} AS ${sql.type(input.type)})`
    const isFinite = isTime(input.type) ? sql`isfinite(low) AND isfinite(high)` : sql`true`
    const ranges = await readRanges(
      connection,
      sql`FROM (SELECT ${value('low')} AS low, ${value('high')} AS high FROM (${noted})) WHERE low <= high AND ${isFinite}`,
    )
    const led = await lead(connection, [{ ...input, ranges }], type)
    if (led !== null && led.length > 0) found.push({ input, ranges: led })
  }
  return found
}

/** A query of the parts that have these values: "start", and "next", the first value behind it. */
function partsOf(model: Model, ranges: readonly ClosedRange[], type: ColumnType): Sql {
  const rows = sql.rows(ranges.map(({ low, high }) => [low, high]))
  const value = (end: 'low' | 'high') => sql`CAST(${sql.ident(end)} AS ${sql.type(type)})`
  return sql`SELECT ${partStart(model, value('low'), type)} AS start, ${nextValue(model, value('high'), type)} AS next
    FROM (VALUES ${rows}) AS gone(low, high)`
}

const partStart = (model: Model, value: Sql, type: ColumnType): Sql =>
  model.kind === 'period'
    ? sql`CAST(${periodStart(value, model.period, type)} AS ${sql.type(type)})`
    : value

/** The last value before a part. */
function valueBefore(start: Sql, type: ColumnType): Sql {
  const isDayOrNumber = type === 'DATE' || !isTime(type)
  return isDayOrNumber ? sql`${start} - 1` : sql`${start} - INTERVAL 1 MICROSECOND`
}

/** The first value behind a part. */
function nextValue(model: Model, last: Sql, type: ColumnType): Sql {
  if (model.kind === 'period')
    return sql`CAST(${nextStart(partStart(model, last, type), model.period, type)} AS ${sql.type(type)})`
  if (type === 'DATE') return sql`${last} + 1`
  return isTime(type) ? sql`${last} + INTERVAL 1 MICROSECOND` : sql`${last} + 1`
}
