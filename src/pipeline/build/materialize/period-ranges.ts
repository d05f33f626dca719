// Which periods of a model of kind period a run makes anew: those that are asked for, or those near the newest row of its
// table, those that were never built, and those of which an input has changed, however old they are. Values are texts, which DuckDB reads as values of the column.

import type { Period, PeriodModel } from '../../../core/model.ts'
import { type ModelName, sameName } from '../../../core/names.ts'
import { type ColumnType, columnType } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import type { PlannedRange, Slice, ValueRange, WatermarkRange } from '../../../core/step.ts'
import type { Connection } from '../../../duckdb/database.ts'
import { type Row, textOf } from '../../../duckdb/values.ts'
import { followingOf, followedInputs } from '../../changes/following.ts'
import { warnOfPartlyForgotten } from '../../changes/partly-forgotten.ts'
import { touchedSince } from '../../changes/touched.ts'
import { isOfRule } from '../../rules/parts.ts'
import { recordOf, type RunContext } from '../../run-context.ts'
import type { SliceRecord } from '../../../store/state.ts'
import { nextStart, periodStart } from './period-start.ts'
import { continuesTable } from './relation.ts'
import { tableOf } from './renames.ts'
import { distance } from './stage.ts'
import { recordedParts } from '../../rules/recorded.ts'

/** In the order of their values; none overlaps or adjoins the next one. */
export async function periodsToMake(
  context: RunContext,
  model: PeriodModel,
  slice: Slice,
): Promise<readonly PlannedRange[]> {
  if (slice === 'whole' && !continuesTable(context, model))
    return [{ ...EVERYTHING, because: 'first build' }]
  const type = await typeOfColumn(context, model)
  if (slice !== 'whole') return [await roundedOut(context.connection, model.period, type, slice)]
  const newest = await lookedBackTo(context, model, type)
  if (newest === null) return [{ ...EVERYTHING, because: 'the table is empty' }]
  const { lookback } = model.period
  const because = lookback === null ? 'the newest period' : `lookback ${lookback}`
  const touched = await touchedPeriods(context, model, type)
  const gaps = await gapsOf(context, model, type)
  const made = [
    { start: newest, end: null, because },
    ...gaps.map((gap) => ({ ...gap, because: 'never built' })),
    ...touched.map((range) => ({ ...range, because: CHANGED })),
  ]
  const ranges = await joined(context.connection, type, made)
  await warnOfPartlyForgotten(context, model, newest, type)
  const isLate = ranges.some((range) => isChanged(range) && range.start !== newest)
  // With a lookback the author has said how far back what comes in order is read.
  if (isLate || (touched.length > 0 && lookback === null)) warnOfOthers(context, model)
  return ranges
}

/** Rows of periods that are not made anew may be made of what has changed, too. */
function warnOfOthers({ project, changes }: RunContext, model: PeriodModel): void {
  const following = followingOf(project, model)
  if (following?.touchesOthers !== true) return
  const inputs = followedInputs(following).toSorted()
  changes.warn(
    model.name,
    `changes of ${inputs.join(', ')} may touch rows of other periods, by a window, LIMIT or DISTINCT ON, and these stay as they were; select such rows in a model of kind table and read that, or rebuild periods: eider run ${model.name} --start VALUE --end VALUE`,
  )
}

const CHANGED = 'changed inputs'

/** Whether an input is known to have changed there. */
export const isChanged = ({ because }: PlannedRange): boolean => because.includes(CHANGED)

/** The periods whose rows may be other ones, for what has changed in the inputs since they were read. */
async function touchedPeriods(
  context: RunContext,
  model: PeriodModel,
  type: ColumnType,
): Promise<readonly ValueRange[]> {
  const touched = (await touchedSince(context, model))?.ranges ?? []
  if (touched.length === 0) return []
  const { period } = model
  const value = (end: string) => sql`CAST(${sql.ident(end)} AS ${sql.type(type)})`
  const last = periodStart(value('high'), period, type)
  const rows = sql.rows(touched.map(({ low, high }) => [low, high]))
  // An infinite time is no end of a range. What lies beyond all others belongs to the newest period, which is made anyway.
  const isFinite = (end: string) =>
    typeof period.every === 'number' ? sql`true` : sql`isfinite(${value(end)})`
  const ranges = await context.connection.rows(sql`
    SELECT CASE WHEN ${isFinite('low')} THEN CAST(${periodStart(value('low'), period, type)} AS VARCHAR) END AS start,
      CASE WHEN ${isFinite('high')} THEN CAST(${nextStart(last, period, type)} AS VARCHAR) END AS "end"
    FROM (VALUES ${rows}) AS touched(low, high) WHERE low <> 'infinity'`)
  const endOf = (row: Row, end: string) => (row[end] == null ? null : textOf(row[end]))
  return ranges.map((row) => ({ start: endOf(row, 'start'), end: endOf(row, 'end') }))
}

/** Models of this kind that have a table, and periods that were never built: a range was their first build, or has been cut off. */
export async function modelsWithGaps(context: RunContext): Promise<ReadonlySet<ModelName>> {
  const { connection, project, selected, partsBefore } = context
  const models = [...selected].flatMap((name) => {
    const model = project.models.get(name)
    return model?.kind === 'period' && continuesTable(context, model) ? [model] : []
  })
  if (models.length === 0) return new Set()
  const recorded = await partsBefore(connection)
  const found = new Set<ModelName>()
  for (const model of models) {
    const { ranges, summary } = recorded(model.name)
    if (summary.isWhole) continue
    if ((await gapsAmong(context, model, await ranges())).length > 0) found.add(model.name)
  }
  return found
}

/** What was never made of a table that goes on. */
async function gapsOf(
  context: RunContext,
  model: PeriodModel,
  type?: ColumnType,
): Promise<readonly ValueRange[]> {
  const { connection, store } = context
  // Only a build makes ranges that hold, and that of this model comes later.
  if ((await recordedParts(context, model)).summary.isWhole) return []
  return gapsAmong(context, model, await store.state.readSlices(connection, [model.name]), type)
}

async function gapsAmong(
  context: RunContext,
  model: PeriodModel,
  slices: readonly SliceRecord[],
  type?: ColumnType,
): Promise<readonly ValueRange[]> {
  // What another kind has built has no gaps: all of its rows are there.
  if (slices.some(isEverything) || recordOf(context, model)?.kind !== 'period') return []
  const known = type ?? (await typeOfColumn(context, model))
  const line = await Line.of(context.connection, known, slices)
  return line.without(EVERYTHING, slices)
}

/**
 * What is to be remembered once `made` was made by the definition of the model: with what adjoins and was made by the same
 * one. Empty: all of it is remembered already.
 */
export async function rangesToRemember(
  context: RunContext,
  model: PeriodModel,
  made: readonly ValueRange[],
): Promise<readonly ValueRange[]> {
  if (!continuesTable(context, model)) return made
  const { connection, store } = context
  const record = recordOf(context, model)!
  const isOwn = (slice: Pick<SliceRecord, 'definition' | 'rule'>) =>
    isOfRule(context, slice, record, model)
  const { summary } = await recordedParts(context, model)
  if (summary.isWhole && summary.madeBy.every(isOwn)) return []
  const slices = await store.state.readSlices(connection, [model.name])
  const type = await typeOfColumn(context, model)
  const line = await Line.of(connection, type, [...slices, ...made])
  const own = line.visible(slices).filter(isOwn)
  const isNew = (range: ValueRange) => line.without(range, own).length > 0
  return line
    .union([...own, ...made])
    .filter((range) => made.some((one) => line.contains(range, one) && isNew(one)))
}

export const EVERYTHING: ValueRange = { start: null, end: null }

const isEverything = ({ start, end }: ValueRange): boolean => start === null && end === null

const HUGE = columnType('HUGEINT')

/** Where the columns follow from data, and there is no table yet, one that holds the values. */
async function typeOfColumn(
  { connection, columnsBefore }: RunContext,
  { name, columns, period }: PeriodModel,
): Promise<ColumnType> {
  const isColumn = (column: { readonly name: string }) => sameName(column.name, period.column)
  const known = columns.find(isColumn) ?? (await columnsBefore(connection, name))?.find(isColumn)
  return known?.type ?? (typeof period.every === 'number' ? HUGE : columnType('TIMESTAMP'))
}

/** Outwards to whole periods. */
async function roundedOut(
  connection: Connection,
  period: Period,
  type: ColumnType,
  { start, end }: WatermarkRange,
): Promise<PlannedRange> {
  const [from, to] = [sql.value(start, type), sql.value(end, type)]
  const last = periodStart(to, period, type)
  const row = await connection.row(sql`
    SELECT CAST(${periodStart(from, period, type)} AS VARCHAR) AS start,
      CAST(CASE WHEN ${last} = ${to} THEN ${to} ELSE ${nextStart(last, period, type)} END AS VARCHAR) AS "end",
      ${periodStart(from, period, type)} = ${from} AND ${last} = ${to} AS exact`)
  const because = row?.['exact'] === true ? 'backfill' : 'rounded outwards to whole periods'
  return { start: textOf(row?.['start']), end: textOf(row?.['end']), because }
}

/** The start of the period in which the lookback from the newest row ends; null: the table has no rows. */
async function lookedBackTo(
  { connection }: RunContext,
  model: PeriodModel,
  type: ColumnType,
): Promise<string | null> {
  const { period } = model
  const { column, every, lookback } = period
  const value = sql.ident(column)
  const finite = typeof every === 'number' ? sql.empty : sql` FILTER (isfinite(${value}))`
  const newest = sql`max(${value})${finite}`
  const back =
    lookback === null
      ? newest
      : sql`CAST(${wide(newest, every)} - ${distance(lookback)} AS ${sql.type(typeof every === 'number' ? HUGE : type)})`
  const row = await connection.row(
    sql`SELECT CAST(${periodStart(back, period, type)} AS VARCHAR) AS start
      FROM ${await tableOf(connection, model)}`,
  )
  return row?.['start'] == null ? null : textOf(row['start'])
}

/** Below zero there is nothing in a column without a sign. */
const wide = (value: Sql, every: Period['every']): Sql =>
  typeof every === 'number' ? sql`CAST(${value} AS HUGEINT)` : value

async function joined(
  connection: Connection,
  type: ColumnType,
  ranges: readonly PlannedRange[],
): Promise<readonly PlannedRange[]> {
  const line = await Line.of(connection, type, ranges)
  return line.union(ranges).map((range) => {
    const inside = ranges.filter((one) => line.contains(range, one))
    return { ...range, because: [...new Set(inside.map(({ because }) => because))].join(', ') }
  })
}

/** Ranges by the order of their values. */
class Line {
  readonly #keys: ReadonlyMap<string, bigint>

  private constructor(keys: ReadonlyMap<string, bigint>) {
    this.#keys = keys
  }

  static async of(
    connection: Connection,
    type: ColumnType,
    ranges: readonly ValueRange[],
  ): Promise<Line> {
    const texts = [...new Set(ranges.flatMap(({ start, end }) => [start ?? [], end ?? []].flat()))]
    if (texts.length === 0) return new Line(new Map())
    // The end of a period of numbers need not fit into the column.
    const isTime = /^(?:DATE|TIMESTAMP)/.test(type)
    const key = isTime ? sql`epoch_us(CAST(text AS ${sql.type(type)}))` : sql`CAST(text AS HUGEINT)`
    const list = sql.values(texts)
    const rows = await connection.texts(
      sql`SELECT text, CAST(${key} AS VARCHAR) AS key FROM (SELECT unnest([${list}]) AS text)`,
    )
    return new Line(
      new Map(rows.map(({ text, key: found }) => [textOf(text), BigInt(textOf(found))])),
    )
  }

  #start({ start }: ValueRange): bigint | null {
    return start === null ? null : this.#keys.get(start)!
  }

  #end({ end }: ValueRange): bigint | null {
    return end === null ? null : this.#keys.get(end)!
  }

  contains(outer: ValueRange, inner: ValueRange): boolean {
    const [start, end] = [this.#start(outer), this.#end(outer)]
    const [from, to] = [this.#start(inner), this.#end(inner)]
    return (
      (start === null || (from !== null && from >= start)) &&
      (end === null || (to !== null && to <= end))
    )
  }

  /** In order; those that overlap or adjoin are one. */
  union(ranges: readonly ValueRange[]): readonly ValueRange[] {
    const ordered = ranges.toSorted((a, b) => compareStarts(this.#start(a), this.#start(b)))
    const found: { start: string | null; end: string | null }[] = []
    for (const { start, end } of ordered) {
      const last = found.at(-1)
      const from = this.#start({ start, end })
      const until = last === undefined ? null : this.#end(last)
      const meets = last !== undefined && (from === null || until === null || from <= until)
      if (!meets) found.push({ start, end })
      else if (until !== null && compareEnds(this.#end({ start, end }), until) > 0) last.end = end
    }
    return found
  }

  /** What is left of a range. */
  without(range: ValueRange, taken: readonly ValueRange[]): readonly ValueRange[] {
    let rest: readonly ValueRange[] = [range]
    for (const one of this.union(taken)) rest = rest.flatMap((left) => this.#cut(left, one))
    return rest
  }

  #cut(range: ValueRange, taken: ValueRange): readonly ValueRange[] {
    const [start, end] = [this.#start(range), this.#end(range)]
    const [from, to] = [this.#start(taken), this.#end(taken)]
    const isBefore = to !== null && start !== null && to <= start
    const isAfter = from !== null && end !== null && from >= end
    if (isBefore || isAfter) return [range]
    return [
      ...(compareStarts(from, start) > 0 ? [{ start: range.start, end: taken.start }] : []),
      ...(compareEnds(to, end) < 0 ? [{ start: taken.end, end: range.end }] : []),
    ]
  }

  /** What no later one has built again. `slices`: oldest first. */
  visible(slices: readonly SliceRecord[]): readonly SliceRecord[] {
    let later: readonly ValueRange[] = []
    return slices.toReversed().flatMap((slice) => {
      const left = this.without(slice, later)
      later = this.union([...later, slice])
      return left.map((range) => ({ ...slice, ...range }))
    })
  }
}

/** null is before all others. */
const compareStarts = (a: bigint | null, b: bigint | null): number =>
  a === b ? 0 : a === null ? -1 : b === null ? 1 : a < b ? -1 : 1

/** null is after all others. */
const compareEnds = (a: bigint | null, b: bigint | null): number =>
  a === b ? 0 : a === null ? 1 : b === null ? -1 : a < b ? -1 : 1
