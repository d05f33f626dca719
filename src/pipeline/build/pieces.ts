// A range that is rebuilt in pieces (`--by`), each in its own transaction: what is committed stays when a later one fails
// or the run is killed. Pieces are built in their order, so what is done is a beginning of the range, which is remembered
// as one range. The next run of the same range goes on behind it where nothing has changed meanwhile.

import { addedUp } from './table-changes.ts'
import { count, grouped } from '../../core/counts.ts'
import { UsageError } from '../../core/failures.ts'
import { limits } from '../../core/limits.ts'
import { type Model, timeUnits } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import { rangeColumnOf } from '../../core/range-column.ts'
import { type ColumnType, columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { ModelResult } from '../../core/report/progress.ts'
import { olderLine, type Step, type WatermarkRange } from '../../core/step.ts'
import type { Connection } from '../../duckdb/database.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { NewRecord } from '../../store/state.ts'
import { textOf } from '../../duckdb/values.ts'
import { isConflict } from '../../duckdb/errors.ts'
import { isInterruption } from '../failure.ts'
import { isTime } from '../changes/ranges.ts'
import type { RunResults } from '../results.ts'
import { partsOnce } from '../rules/recorded.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import { periodStart } from './materialize/period-start.ts'
import { noteRelation } from './materialize/relation.ts'

/** The range in its order. `by` fits the column (asked-range.ts). Throws UsageError for too many pieces. */
export async function piecesOf(
  connection: Connection,
  model: Model,
  { start, end }: WatermarkRange,
  by: string,
): Promise<readonly WatermarkRange[]> {
  const { column: name } = rangeColumnOf(model)!
  const type = model.columns.find((column) => sameName(column.name, name))?.type ?? guessOf(by)
  const hasTimes = isTime(type)
  const bounds = hasTimes
    ? await timeBounds(connection, { start, end }, by, stepOf(model, type, by))
    : await numberBounds(connection, { start, end }, BigInt(by))
  const value = sql`CAST(bound AS ${sql.type(hasTimes ? type : HUGE)})`
  const whole = model.kind === 'period' ? periodStart(value, model.period, type) : value
  const found = await connection.rows(sql`
    SELECT DISTINCT CAST(bound AS VARCHAR) AS bound FROM (SELECT ${whole} AS bound FROM (${bounds}))
    WHERE bound > ${sql.value(start)}::${sql.type(hasTimes ? type : HUGE)}
      AND bound < ${sql.value(end)}::${sql.type(hasTimes ? type : HUGE)}
    ORDER BY CAST(bound AS ${sql.type(hasTimes ? type : HUGE)}) LIMIT ${sql.value(limits.backfillPieces)}`)
  if (found.length === limits.backfillPieces)
    throw new UsageError(
      `--by ${by} makes more than ${grouped(limits.backfillPieces)} pieces of the range`,
      { hint: 'take longer ones, or a shorter range' },
    )
  const ends = [...found.map(({ bound }) => textOf(bound)), end]
  return ends.map((until, i) => ({ start: i === 0 ? start : ends[i - 1]!, end: until }))
}

const HUGE = columnType('HUGEINT')
const TIMESTAMP = columnType('TIMESTAMP')
const INTERVAL = columnType('INTERVAL')

/** The type of a column that follows from data is not known yet. */
const guessOf = (by: string): ColumnType => (/^\d+$/.test(by) ? HUGE : TIMESTAMP)

/** The longest of the unit, a day for dates and the period: shorter pieces would be the same ones again. */
function stepOf(model: Model, type: ColumnType, unit: string): string {
  const every = model.kind === 'period' ? model.period.every : unit
  const units = [unit, every, type === 'DATE' ? 'day' : unit]
  return timeUnits.findLast((one) => units.includes(one)) ?? unit
}

/**
 * Times in a column "bound". Among them are those in the range at which a piece ends, or more of them than may be: there is
 * no need to count on. Throws UsageError.
 */
async function timeBounds(
  connection: Connection,
  { start, end }: WatermarkRange,
  unit: string,
  step: string,
): Promise<Sql> {
  const [from, to] = [sql.value(start, TIMESTAMP), sql.value(end, TIMESTAMP)]
  const row = await connection.row(sql`SELECT isfinite(${from}) AND isfinite(${to}) AS has_ends`)
  if (row?.['has_ends'] !== true)
    throw new UsageError(`--by ${unit} makes no end of pieces of a range from ${start} to ${end}`, {
      hint: 'name the first and the last time of the range, or leave --by out',
    })
  // The first ones may lie at the start of the range or before it.
  const most = sql.value(limits.backfillPieces + 3)
  return sql`
    SELECT date_trunc(${sql.value(step)}, ${from}) + i * ${sql.value(`1 ${step}`, INTERVAL)} AS bound
    FROM range(0, least(date_diff(${sql.value(step)}, ${from}, ${to}), ${most}) + 1) AS t(i)`
}

/** One more than may be: there is no need to count on. The ends are as the engine reads them, such as 1e6. */
async function numberBounds(
  connection: Connection,
  range: WatermarkRange,
  size: bigint,
): Promise<Sql> {
  const read = (end: 'start' | 'end') =>
    sql`CAST(CAST(${sql.value(range[end])} AS ${sql.type(HUGE)}) AS VARCHAR) AS ${sql.ident(end)}`
  const row = await connection.row(sql`SELECT ${read('start')}, ${read('end')}`)
  const [from, to] = [BigInt(textOf(row?.['start'])), BigInt(textOf(row?.['end']))]
  const steps = (to - from) / size + 1n
  const count = steps < BigInt(limits.backfillPieces) ? steps : BigInt(limits.backfillPieces)
  const first = from - (((from % size) + size) % size)
  return sql`SELECT ${sql.value(first, HUGE)} + i * ${sql.value(size, HUGE)} AS bound
    FROM range(1, ${sql.value(Number(count) + 2)}) AS t(i)`
}

/** What builds the pieces of a step. */
interface Builder {
  /** The fingerprint of the inputs as they are now. */
  readonly fingerprint: string
  /** In the transaction of the caller, who records it. */
  readonly build: (context: RunContext, step: Step) => Promise<Built>
  readonly explain: (error: unknown) => string
}

interface Built {
  readonly outcome: Omit<ModelResult, 'model' | 'ms'>
  readonly record: NewRecord | null
}

/** What is committed stays when a later piece fails. Throws what is no failure of the model. */
export async function buildPieces(
  context: RunContext,
  results: RunResults,
  step: Step,
  builder: Builder,
): Promise<void> {
  const { model, pieces, because } = step
  const startedMs = performance.now()
  results.start(model.name, because)
  const { start } = pieces[0]!
  const leftOff = await leftOffAt(context, model, start, builder.fingerprint)
  const first = pieces.findIndex((piece) => piece.start === leftOff)
  let done = Math.max(0, first)
  let here = context
  let rows = 0
  const said: SaidOfPiece[] = []
  let outcome: Built['outcome'] = { status: 'built', because }
  try {
    for (const piece of pieces.slice(done)) {
      context.onShare?.({ step: 'pieces', model: model.name, done, total: pieces.length })
      context.signal.throwIfAborted()
      const built = await buildPiece(here, { ...step, slice: piece }, start, builder)
      rows += built.outcome.rows ?? 0
      said.push({ piece, warnings: ownWarnings(built.outcome) })
      outcome = { ...built.outcome, ...addedUp(outcome, built.outcome) }
      here = await withRecord(here, built.record)
      done++
    }
  } catch (error) {
    if (isInterruption(error, context.signal) || isConflict(error)) throw error
    results.versions.delete(model.name)
    const left = `${done} of ${pieces.length} pieces are built, and the same command continues there`
    const why = `${builder.explain(error)}; ${left}`
    return results.fail(model.name, why, performance.now() - startedMs)
  }
  const warnings = warningsOf(outcome, said, pieces.length)
  results.finish({
    model: model.name,
    ...outcome,
    ...warnings,
    rows,
    ms: performance.now() - startedMs,
  })
}

interface SaidOfPiece {
  readonly piece: WatermarkRange
  readonly warnings: readonly string[]
}

/** Without what is said of the whole table, which the last piece knows best: checks, and rows of older rules. */
const ownWarnings = ({ warnings = [], older_rows: older }: Built['outcome']): readonly string[] =>
  warnings.filter(
    (text) => !/^[^:]+\.\w+:\d+:\d+: /.test(text) && (!older || text !== olderLine(older)),
  )

/** Each with the pieces that said it, but for those of the whole table; `pieces`: of the range, with those built before. */
function warningsOf(
  { warnings: last = [] }: Built['outcome'],
  said: readonly SaidOfPiece[],
  pieces: number,
): Pick<ModelResult, 'warnings'> {
  if (pieces === 1) return last.length === 0 ? {} : { warnings: last }
  const first = new Map<string, WatermarkRange>()
  const times = new Map<string, number>()
  for (const { piece, warnings } of said)
    for (const text of warnings) {
      if (!first.has(text)) first.set(text, piece)
      times.set(text, (times.get(text) ?? 0) + 1)
    }
  const lines = [...first].map(([text, { start, end }]) => {
    const more = times.get(text)! - 1
    return `${start} to ${end}${more === 0 ? '' : `, and ${count(more, 'later piece')}`}: ${text}`
  })
  const [shown, left] = [
    lines.slice(0, limits.shownPieceWarnings),
    lines.length - limits.shownPieceWarnings,
  ]
  const rest = left > 0 ? [`${count(left, 'more warning')} of other pieces`] : []
  const all = [...shown, ...rest, ...last.filter((text) => !first.has(text))]
  return all.length === 0 ? {} : { warnings: all }
}

/** What was built from `start` on is remembered as one range. */
async function buildPiece(
  context: RunContext,
  step: Step & { readonly slice: WatermarkRange },
  start: string,
  { build }: Builder,
) {
  const { connection, store, runId } = context
  const built = await store.state.change(connection, async () => {
    const { outcome, record } = await build(context, step)
    const { ranges = [] } = record!
    // Before the first piece of it, a range says by which definition the rest of the table was made.
    const others = step.slice.start === start ? ranges.filter((range) => range !== step.slice) : []
    const known = step.model.kind === 'period' ? [] : others
    const isFirst = step.slice.start === start
    const outgrown = isFirst ? null : { start, end: step.slice.start }
    const all = { ...record!, ranges: [...known, { start, end: step.slice.end }], outgrown }
    await store.state.recordModels(connection, runId, [all])
    return { outcome, record: all }
  })
  noteRelation(context, step.model)
  return built
}

/** The context as the next piece finds it. */
async function withRecord(
  context: RunContext,
  { model, fingerprint, version }: NewRecord,
): Promise<RunContext> {
  const { name, kind, definition } = model
  const record = { kind, definition, fingerprint, version, removed: false }
  const models = new Map(context.state.models).set(name, record)
  const columns = await describe(context.connection, sql`FROM ${sql.relation(name)}`)
  return {
    ...context,
    state: { ...context.state, models },
    fullRefresh: false,
    partsBefore: partsOnce(context.store, [name]),
    columnsBefore: (connection, asked) =>
      asked === name ? Promise.resolve(columns) : context.columnsBefore(connection, asked),
  }
}

/**
 * Where a run of this range, by this definition, has left off that did not come to its end; null: nowhere, or something
 * that the model reads is not what it was.
 */
export async function leftOffAt(
  context: RunContext,
  model: Model,
  start: string,
  fingerprint: string,
): Promise<string | null> {
  const { connection, store } = context
  // After the definition come the models and files that it reads (plan/decide.ts).
  const inputs = model.dependsOn.length + model.files.length
  const inputsOf = (text: string) =>
    text
      .split('.')
      .slice(1, 1 + inputs)
      .join('.')
  const before = recordOf(context, model)
  if (before === null || inputsOf(before.fingerprint) !== inputsOf(fingerprint)) return null
  const slices = await store.state.readSlices(connection, [model.name])
  const last = slices.findLast((slice) => slice.start === start && slice.end !== null)
  if (last === undefined || last.definition !== model.definition) return null
  return (await hasEnded(context, model, last.runId)) ? null : last.end
}

/** A run that was killed has no record; of one that was interrupted or has failed it says so. */
async function hasEnded(
  { connection, store }: RunContext,
  { name }: Model,
  runId: string,
): Promise<boolean> {
  const runs = await store.state.allRuns()
  const row = await connection.row(sql`
    SELECT (SELECT min(run_id) FROM (${runs})) > ${sql.value(runId)} AS forgotten,
      (SELECT summary FROM (${runs}) WHERE run_id = ${sql.value(runId)} LIMIT 1) AS summary`)
  if (row?.['forgotten'] === true) return true
  const summary = row?.['summary'] ?? null
  if (summary === null) return false
  const { models } = JSON.parse(textOf(summary)) as { readonly models: readonly ModelResult[] }
  const status = models.find(({ model }) => model === name)?.status
  return status === 'built' || status === 'unchanged'
}
