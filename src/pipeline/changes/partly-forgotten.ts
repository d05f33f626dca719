// Periods and groups of which an input with `@keep` has removed rows: made again, they would lose what was made of these
// rows. They keep what they have, and that is said.

import { type Followed, isGrouped } from '../../compiler/lineage/follow.ts'
import type { Keep, Model } from '../../core/model.ts'
import type { ColumnType } from '../../core/relation.ts'
import { keepOf } from '../../core/retention.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { textOf } from '../../duckdb/values.ts'
import type { ClosedRange } from '../../store/changes.ts'
import { cutoffOf } from '../build/old-rows.ts'
import { nextStart, periodStart } from '../build/materialize/period-start.ts'
import type { RunContext } from '../run-context.ts'
import { followingOf } from './following.ts'
import { hasParts, isTime, lead } from './ranges.ts'

/** An input that has removed rows, and the last value of the column of the reader that may lack some of them. */
interface Edge {
  readonly input: Followed
  readonly keep: Keep
  /** The first value of the last period or group of which rows may have gone. */
  readonly last: string
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
  for (const edge of await edgesOf(context, model, type)) {
    const { connection, changes } = context
    const all = sql.rows(left.map(({ low, high }) => [low, high]))
    const value = (end: string) => sql`CAST(${sql.ident(end)} AS ${sql.type(type)})`
    const last = sql.value(edge.last, type)
    // What lies in the part of `last` is as incomplete as `last` itself.
    const isSafe = (end: string) => sql`${partStart(model, value(end), type)} > ${last}`
    const rows = await connection.rows(sql`
      SELECT low, high, ${isSafe('low')} AS whole, ${isSafe('high')} AS some,
        CAST(CASE WHEN ${isSafe('low')} THEN ${value('low')} ELSE ${nextValue(model, last, type)} END AS VARCHAR) AS safe
      FROM (VALUES ${all}) AS ranges(low, high)`)
    if (rows.some(({ whole }) => whole !== true)) changes.warn(model.name, textOfKept(model, edge))
    left = rows
      .filter(({ some }) => some === true)
      .map(({ safe, high }) => ({ low: textOf(safe), high: textOf(high) }))
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
  for (const { input, keep, last } of await edgesOf(context, model, type)) {
    const row = await context.connection.row(sql`
      SELECT 1 WHERE ${sql.value(newest, type)} <= ${sql.value(last, type)}`)
    if (row === null) continue
    context.changes.warn(
      model.name,
      `the newest periods are made of what ${input.model} still has, which keeps its rows for ${keep.age} only: shorter periods, a shorter lookback, or a longer @keep of ${input.model} lose nothing`,
    )
  }
}

function textOfKept({ name, kind }: Model, { input, keep, last }: Edge): string {
  const what = kind === 'period' ? 'periods' : 'groups'
  return `${what} up to that of ${last} keep what they have though ${input.model} has changed in some of them: it keeps its rows for ${keep.age} only, and other rows of these ${what} may have gone; to make them of what is left: eider run ${name} --start VALUE --end VALUE`
}

async function edgesOf(
  context: RunContext,
  model: Model,
  type: ColumnType,
): Promise<readonly Edge[]> {
  const { connection, project, store } = context
  const edges: Edge[] = []
  for (const input of followingOf(project, model)?.followed ?? []) {
    const keep = keepOf(project.models.get(input.model)!)
    if (keep === null) continue
    if ((await store.state.changes.removedFrom(connection, input.model)) === 0) continue
    const last = await lastForgotten(context, model, { input, keep, type })
    if (last !== null) edges.push({ input, keep, last })
  }
  return edges
}

/** null: all that is left is whole. */
async function lastForgotten(
  context: RunContext,
  model: Model,
  { input, keep, type }: Pick<Edge, 'input' | 'keep'> & { readonly type: ColumnType },
): Promise<string | null> {
  const { connection } = context
  const cutoff = cutoffOf(keep, context)
  const isOwnTime = isTime(input.type)
  const edge = isOwnTime ? cutoff : numberAt(input, keep)
  const found = await connection.row(
    sql`SELECT CAST(CAST((${edge}) AS ${sql.type(input.type)}) AS VARCHAR) AS at`,
  )
  if (found?.['at'] == null) return null
  const at = textOf(found['at'])
  const led = await lead(connection, [{ ...input, ranges: [{ low: at, high: at }] }], type)
  const high = led?.at(-1)?.high
  if (high === undefined) return null
  const start = partStart(model, sql.value(high, type), type)
  const isMoved = input.steps.some((step) => 'zone' in step)
  // A part that begins where the input was cut is whole; a number says nothing of when it was.
  const last =
    isOwnTime && isTime(type) && !isMoved
      ? sql`CASE WHEN CAST(${start} AS TIMESTAMP) < ${cutoff} THEN ${start} ELSE ${beforePart(start, type)} END`
      : start
  const row = await connection.row(sql`SELECT CAST((${last}) AS VARCHAR) AS last`)
  return textOf(row!['last'])
}

/** Where numbers rise with time, those of the first day that is left. */
function numberAt({ model, column }: Followed, keep: Keep): Sql {
  const [relation, time] = [sql.relation(model), sql.ident(keep.column)]
  return sql`SELECT max(${sql.ident(column)}) FROM ${relation}
    WHERE ${time} < date_trunc('day', (SELECT min(${time}) FROM ${relation})) + INTERVAL 1 DAY`
}

const partStart = (model: Model, value: Sql, type: ColumnType): Sql =>
  model.kind === 'period'
    ? sql`CAST(${periodStart(value, model.period, type)} AS ${sql.type(type)})`
    : value

/** Of times: a value between this part and the one before it. */
const beforePart = (start: Sql, type: ColumnType): Sql =>
  type === 'DATE' ? sql`${start} - 1` : sql`${start} - INTERVAL 1 MICROSECOND`

/** The first value behind a part. */
function nextValue(model: Model, last: Sql, type: ColumnType): Sql {
  if (model.kind === 'period')
    return sql`CAST(${nextStart(partStart(model, last, type), model.period, type)} AS ${sql.type(type)})`
  if (type === 'DATE') return sql`${last} + 1`
  return isTime(type) ? sql`${last} + INTERVAL 1 MICROSECOND` : sql`${last} + 1`
}
