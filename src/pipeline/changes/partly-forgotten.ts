// Periods and groups of which an input with `@keep` has removed rows: made again, they would lose what was made of these
// rows. They keep what they have, and that is said.

import { type Followed, isGrouped } from '../../compiler/lineage/follow.ts'
import { limits } from '../../core/limits.ts'
import type { Model } from '../../core/model.ts'
import { rangeColumnOf } from '../../core/range-column.ts'
import type { ColumnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import type { ClosedRange } from '../../store/changes.ts'
import { nextStart, periodStart } from '../build/materialize/period-start.ts'
import { tableOf } from '../build/materialize/renames.ts'
import type { RunContext } from '../run-context.ts'
import { followingOf } from './following.ts'
import { rangeRows } from './forgotten-values.ts'
import { hasParts, isTime, joinedRanges, lead } from './ranges.ts'

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
    const touched = rangesOf(left, type)
    const parts = partsOf(model, gone, type)
    const kept = await keptParts(context, model, { touched, parts, type })
    if (kept === null) continue
    const { first, last, n } = kept
    context.changes.warn(model.name, textOfKept(model, input, [first, last]))
    // Where many are left out one by one, what lies between them stays as it is, too.
    const out = n > limits.changedRanges ? parts : sql`FROM ${KEPT}`
    left = await without(context, { touched, out, type })
    await context.connection.run(sql`DROP TABLE ${KEPT}`)
    if (left.length === 0) return []
  }
  return left
}

const KEPT = sql`temp.main._eider_kept_parts`

interface Meeting {
  /** A query of "low" and "high". */
  readonly touched: Sql
  /** A query of "low" and "high": parts of which rows have gone, and what lies between them. */
  readonly parts: Sql
  readonly type: ColumnType
}

/** Leaves in KEPT those of the parts that are touched of which the table has rows; null: it has none of any. */
async function keptParts(
  { connection }: RunContext,
  model: Model,
  { touched, parts, type }: Meeting,
): Promise<{ readonly first: string; readonly last: string; readonly n: number } | null> {
  const column = sql.ident(rangeColumnOf(model)!.column)
  const within = (ranges: Sql) =>
    sql`EXISTS (SELECT 1 FROM (${ranges}) AS r WHERE v BETWEEN r.low AND r.high)`
  const start = sql.ident('start')
  const meets = sql`EXISTS (SELECT 1 FROM (${touched}) AS t WHERE t.low <= p.high AND t.high >= p.low)`
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_kept_parts AS
    SELECT low, high FROM (
      SELECT ${start} AS low, ${partEnd(model, start, type)} AS high FROM (
        SELECT DISTINCT ${partStart(model, sql`v`, type)} AS ${start}
        FROM (SELECT ${column} AS v FROM ${await tableOf(connection, model)}) WHERE ${within(parts)})) AS p
    WHERE ${meets}`)
  const found = await connection.row(sql`
    SELECT CAST(min(low) AS VARCHAR) AS first, CAST(max(low) AS VARCHAR) AS last, count(*) AS n FROM ${KEPT}`)
  const n = numberOf(found?.['n'])
  if (n > 0) return { first: textOf(found!['first']), last: textOf(found!['last']), n }
  await connection.run(sql`DROP TABLE ${KEPT}`)
  return null
}

/** `touched` and `out`: queries of "low" and "high". What is left of the first ones. */
async function without(
  { connection }: RunContext,
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
  return rows.map(({ low, high }) => ({ low: textOf(low), high: textOf(high) }))
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
      SELECT 1 FROM (${partsOf(model, ranges, type)}) WHERE high >= ${sql.value(newest, type)} LIMIT 1`)
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
  const { connection, project, store, changes } = context
  const found: Forgotten[] = []
  for (const input of followingOf(project, model)?.followed ?? []) {
    if (!hasParts(input.type)) continue
    const noted = store.state.changes.forgotten.of({ ...input, reader: model.name })
    const planned = changes.forgottenIn(input.model, input.column)
    if (!store.state.changes.forgotten.exists && planned.length === 0) continue
    const all = planned.length === 0 ? noted : sql`${noted} UNION ALL ${rangeRows(planned)}`
    const ranges = await joinedRanges(connection, all, input.type)
    const led = await lead(connection, [{ ...input, ranges }], type)
    if (led !== null && led.length > 0) found.push({ input, ranges: led })
  }
  return found
}

/** A query of "low" and "high". */
const rangesOf = (ranges: readonly ClosedRange[], type: ColumnType): Sql => {
  const value = (end: 'low' | 'high') =>
    sql`CAST(${sql.ident(end)} AS ${sql.type(type)}) AS ${sql.ident(end)}`
  return sql`SELECT ${value('low')}, ${value('high')} FROM (${rangeRows(ranges)})`
}

/** A query of the parts that have these values: "low" and "high", the first and the last value of each. */
const partsOf = (model: Model, ranges: readonly ClosedRange[], type: ColumnType): Sql => sql`
  SELECT ${partStart(model, sql`low`, type)} AS low, ${partEnd(model, sql`high`, type)} AS high
  FROM (${rangesOf(ranges, type)}) AS gone`

/** The first value of the part that has this one: the type may end within a period of numbers. */
const partStart = (model: Model, value: Sql, type: ColumnType): Sql =>
  model.kind === 'period'
    ? sql`coalesce(TRY_CAST(${periodStart(value, model.period, type)} AS ${sql.type(type)}), ${value})`
    : value

/** The last value of the part that has this one. */
function partEnd(model: Model, value: Sql, type: ColumnType): Sql {
  if (model.kind !== 'period') return value
  const next = nextStart(periodStart(value, model.period, type), model.period, type)
  return typeof model.period.every === 'number'
    ? sql`coalesce(TRY_CAST(${next} - 1 AS ${sql.type(type)}), ${value})`
    : neighbour(next, type, -1)
}

/** The value next to one that has another one in this direction. */
function neighbour(value: Sql, type: ColumnType, direction: 1 | -1): Sql {
  const cast = (moved: Sql) => sql`CAST(${moved} AS ${sql.type(type)})`
  if (type === 'FLOAT' || type === 'DOUBLE')
    return sql`nextafter(${value}, ${cast(sql.value(direction > 0 ? 'infinity' : '-infinity'))})`
  const step = stepOf(type)
  return cast(direction > 0 ? sql`${value} + ${step}` : sql`${value} - ${step}`)
}

/** By how much values of a type differ at least. */
function stepOf(type: ColumnType): Sql {
  if (type !== 'DATE' && isTime(type)) return sql`INTERVAL 1 MICROSECOND`
  const scale = Number(/^DECIMAL\(\d+, ?(\d+)\)$/.exec(type)?.[1] ?? 0)
  return scale === 0 ? sql`1` : sql`CAST(${sql.value(`1e-${scale}`)} AS ${sql.type(type)})`
}
