// Periods and groups of which an input with `@keep` has removed rows: made again, they would lose what was made of these
// rows. They keep what they have, and that is said.

import type { Followed } from '../../compiler/lineage/follow.ts'
import { limits } from '../../core/limits.ts'
import type { Model } from '../../core/model.ts'
import { keepOf } from '../../core/retention.ts'
import { rangeColumnOf } from '../../core/range-column.ts'
import type { ColumnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import type { ClosedRange } from '../../store/changes.ts'
import { tableOf } from '../build/materialize/renames.ts'
import type { RunContext } from '../run-context.ts'
import { nothingForgotten } from './forgets.ts'
import { hasParts, joinedRanges, lead } from './ranges.ts'
import { losesRanges, readInputs } from './read-through.ts'
import { remadeOf } from './remade.ts'
import { partEnd, partStart, rangeRows, rangesOf, without } from './value-ranges.ts'

/**
 * An input of which `@keep` has removed rows, and the values of the column of the reader that these may have had, but for
 * what was made of the rest since.
 */
interface Forgotten {
  readonly input: Followed
  readonly ranges: readonly ClosedRange[]
}

/** `ranges`: values of the column of the reader, of this type. Those that may be read again without a loss. */
export async function withoutPartlyForgotten(
  context: RunContext,
  model: Model,
  ranges: readonly ClosedRange[],
  type: ColumnType,
): Promise<readonly ClosedRange[]> {
  if (ranges.length === 0 || !losesRanges(context.project, model)) return ranges
  if (!hasParts(type)) {
    await warnOfTexts(context, model)
    return ranges
  }
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

/** Groups by a text are made again as a whole: of texts nothing is noted, since they may be what is to be forgotten. */
async function warnOfTexts(context: RunContext, model: Model): Promise<void> {
  const inputs = readInputs(context.project, model).map(({ model: input }) => input)
  for (const name of new Set(inputs)) {
    const input = context.project.models.get(name)
    if (input === undefined || keepOf(input) === null || !(await hasLost(context, input))) continue
    context.changes.warn(
      model.name,
      `groups by a string that have changed are made of what ${name} still has, of which @keep may have removed rows; groups by a time or a number, or a longer @keep of ${name}, lose nothing`,
    )
  }
}

/** Of others than events nobody counts what has gone. */
const hasLost = async ({ connection, store }: RunContext, input: Model): Promise<boolean> =>
  input.kind !== 'events' || (await store.state.changes.removedFrom(connection, input.name)) > 0

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
  if (await nothingForgotten(context)) return []
  const found: Forgotten[] = []
  for (const input of readInputs(project, model)) {
    if (!hasParts(input.type)) continue
    const noted = store.state.changes.forgotten.of({ ...input, reader: model.name })
    const planned = changes.forgottenIn(input.model, input.column)
    if (!store.state.changes.forgotten.exists && planned.length === 0) continue
    const all = planned.length === 0 ? noted : sql`${noted} UNION ALL ${rangeRows(planned)}`
    const ranges = await joinedRanges(connection, all, input.type)
    const led = await lead(connection, [{ ...input, ranges }], type)
    if (led === null || led.length === 0) continue
    const [touched, out] = [rangesOf(led, type), remadeOf(context, model, type)]
    const left = await without(context, { touched, out, type })
    if (left.length > 0) found.push({ input, ranges: left })
  }
  return found
}

/** A query of the parts that have these values: "low" and "high", the first and the last value of each. */
const partsOf = (model: Model, ranges: readonly ClosedRange[], type: ColumnType): Sql => sql`
  SELECT ${partStart(model, sql`low`, type)} AS low, ${partEnd(model, sql`high`, type)} AS high
  FROM (${rangesOf(ranges, type)}) AS gone`
