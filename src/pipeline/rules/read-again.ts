// Rows that a run reads again though an older rule has made them: from the watermark on, when the rule of a model has changed.
// They take the place of those in the table, so that no row is there once for each rule.

import type { AppendModel } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import { type ColumnType, isWholeNumber } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { ValueRange } from '../../core/step.ts'
import { numberOf } from '../../duckdb/values.ts'
import type { ClosedRange } from '../../store/changes.ts'
import type { LeftRows } from '../../store/older-rows.ts'
import type { RecordedRange } from '../../store/state.ts'
import { isWithin } from '../build/materialize/relation.ts'
import { hasKeyOf, readFrom, STAGE } from '../build/materialize/stage.ts'
import { countedRows } from '../changes/left-rows.ts'
import { touchedSince } from '../changes/touched.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import { isMeant } from './older.ts'
import {
  areOfRule,
  inPart,
  isOfRule,
  isRuleChanged,
  type Part,
  partsOf,
  rangeColumn,
} from './parts.ts'
import { recordedParts } from './recorded.ts'
import type { RuledModel } from './rule.ts'

export interface ReadAgain {
  /** Whether rows of the table with this watermark were made by an older rule. */
  readonly isOlder: (watermark: Sql) => Sql
  /** From here on all rows that the source has were read again; null: only some that it has changed. */
  readonly from: string | null
  /** Ranges before it of which all rows that the source has were read again, since it has changed there. */
  readonly late: readonly ValueRange[]
}

/** What a build has to record of the rule that made its rows. */
interface BuiltParts {
  readonly ranges: readonly RecordedRange[]
  /** As before when it is absent. */
  readonly left?: LeftRows
}

/** null: no row of the stage lies where an older rule has made the rows of the table. */
export async function readAgain(context: RunContext, model: RuledModel): Promise<ReadAgain | null> {
  const record = recordOf(context, model)
  const column = rangeColumn(model)
  // Periods are replaced as a whole.
  if (model.kind === 'period' || record === null || column === null) return null
  const parts = await partsOf(context, model)
  const areOlder = parts.filter((part) => !isOfRule(context, part, record, model))
  if (areOlder.length === 0) return null
  const isIn = (some: readonly Part[]) => (watermark: Sql) =>
    inPart(model, watermark, parts, (part) => some.includes(part))
  const isOlder = isIn(areOlder)
  const staying = model.kind === 'append' ? await partsThatStay(context, model, areOlder) : []
  if (model.kind === 'append' && staying.length > 0) {
    const isReplaced = isIn(areOlder.filter((part) => !staying.includes(part)))
    return addedAlone(context, model, { isOlder, isReplaced, stays: isIn(staying) })
  }
  const name = sql.ident(column)
  const touched = (await touchedSince(context, model))?.ranges
  const isAll = touched === null
  const isLate = isAll
    ? sql`false`
    : sql`coalesce(${name} < ${readFrom(model.name, model.watermark!)}, false)`
  const [row] = await context.connection.texts(sql`
    SELECT CAST(min(${name}) FILTER (NOT ${isLate}) AS VARCHAR) AS "from", CAST(count(*) AS VARCHAR) AS n
    FROM ${STAGE} WHERE ${isOlder(name)}`)
  if (row?.['n'] === '0') return null
  const late = await lateRanges(context, model, touched ?? [], sql`${isLate} AND ${isOlder(name)}`)
  return { isOlder, from: (row?.['from'] ?? null) as string | null, late }
}

/** Of older rules: those that this run is to keep, or an earlier one. */
async function partsThatStay(
  context: RunContext,
  model: AppendModel,
  older: readonly Part[],
): Promise<readonly Part[]> {
  if (context.forwardOnly) return older
  const { left } = await recordedParts(context, model)
  return older.filter((part) => isMeant(part, left))
}

interface Staying {
  /** Each of them says it of rows with this value of the watermark. */
  readonly isOlder: (watermark: Sql) => Sql
  readonly isReplaced: (watermark: Sql) => Sql
  readonly stays: (watermark: Sql) => Sql
}

/**
 * Rows of older rules stay, also where they are read again: of a key, or without one of a value of the watermark of which
 * the SELECT gives no more rows than the table has. Where it gives more, nothing tells the new ones from the others.
 */
async function addedAlone(
  context: RunContext,
  model: AppendModel,
  { isOlder, isReplaced, stays }: Staying,
): Promise<ReadAgain | null> {
  const { connection } = context
  const { name: table, uniqueKey: key, watermark } = model
  const name = sql.ident(watermark.column)
  const type = model.columns.find((one) => sameName(one.name, watermark.column))?.type
  const step = type === undefined ? null : stepOf(type)
  const isStaged = sql`${name} IN (SELECT ${name} FROM ${STAGE})`
  const hasKey = key.length > 0
  if (!hasKey) {
    const counted = (relation: Sql) =>
      sql`(SELECT ${name} AS v, count(*) AS n FROM ${relation} WHERE ${isStaged} GROUP BY ALL)`
    await connection.run(sql`
      DELETE FROM ${STAGE} WHERE ${stays(name)} AND ${name} IN (
        SELECT v FROM ${counted(STAGE)} AS s JOIN ${counted(sql.relation(table))} AS t USING (v) WHERE s.n <= t.n)`)
    await warnOfReplaced(context, model, stays)
  }
  const isThere = hasKey
    ? hasKeyOf(sql`${sql.relation(table)} WHERE ${stays(name)}`, key, sql`s`)
    : sql`false`
  const isAdded = sql`${isOlder(sql`s.${name}`)} AND NOT ${isThere}`
  const isKept = hasKey ? sql`true` : sql`NOT ${isStaged}`
  const last = sql`(SELECT max(${name}) FROM ${sql.relation(table)} WHERE ${stays(name)} AND ${isKept})`
  const isBehind = sql`coalesce(s.${name} > ${last}, true)`
  const [row] = await connection.texts(sql`
    SELECT CAST(min(s.${name}) FILTER (${isBehind}) AS VARCHAR) AS "from", CAST(count(*) AS VARCHAR) AS n
    FROM ${STAGE} s WHERE ${isAdded}`)
  const replaced = hasKey ? isReplaced : isOlder
  const from = (row?.['from'] ?? null) as string | null
  // Between those that stay, each value counts alone.
  const late =
    step === null
      ? []
      : await connection.texts(sql`
          SELECT DISTINCT CAST(s.${name} AS VARCHAR) AS start, CAST(s.${name} + ${step} AS VARCHAR) AS "end"
          FROM ${STAGE} s WHERE ${isAdded} AND NOT (${isBehind}) ORDER BY ALL`)
  return { isOlder: replaced, from, late: late as unknown as readonly ValueRange[] }
}

/** Rows of older rules that are to stay, and go for want of a key. */
async function warnOfReplaced(
  { connection, changes }: RunContext,
  { name, watermark: { column } }: AppendModel,
  stays: Staying['stays'],
): Promise<void> {
  const value = sql.ident(column)
  const row = await connection.row(sql`
    SELECT count(*) AS n, CAST(min(${value}) AS VARCHAR) AS low, CAST(max(${value}) AS VARCHAR) AS high
    FROM ${sql.relation(name)} WHERE ${stays(value)} AND ${value} IN (SELECT ${value} FROM ${STAGE})`)
  if (row === null || numberOf(row['n']) === 0) return
  changes.warn(
    name,
    `${countedRows(row, column)} of an older rule made again by that of now, since the SELECT gives more rows of these values than the table has; with a @unique_key they would stay`,
  )
}

/** Those of the ranges in which the stage has such rows, and which have an end behind their last value. */
async function lateRanges(
  { connection }: RunContext,
  model: RuledModel,
  touched: readonly ClosedRange[],
  isSuch: Sql,
): Promise<readonly ValueRange[]> {
  const column = rangeColumn(model)!
  const type = model.columns.find(({ name }) => sameName(name, column))?.type
  const step = type === undefined ? null : stepOf(type)
  if (touched.length === 0 || type === undefined || step === null) return []
  const rows = sql.rows(touched.map(({ low, high }) => [low, high]))
  const value = (end: 'low' | 'high') => sql`CAST(${sql.ident(end)} AS ${sql.type(type)})`
  const found = await connection.texts(sql`
    SELECT low AS start, CAST(${value('high')} + ${step} AS VARCHAR) AS "end"
    FROM (VALUES ${rows}) AS touched(low, high)
    WHERE EXISTS (
      SELECT 1 FROM ${STAGE} WHERE ${isSuch} AND ${sql.ident(column)} BETWEEN ${value('low')} AND ${value('high')})`)
  return found as unknown as readonly ValueRange[]
}

/** From a value to the next one of the type; null: it has none that is known. */
function stepOf(type: ColumnType): Sql | null {
  if (/^TIMESTAMP(?: WITH TIME ZONE)?$/.test(type)) return sql`INTERVAL 1 MICROSECOND`
  return type === 'DATE' || isWholeNumber(type) ? sql`1` : null
}

/** Once the rows of the stage are in the table; null: there is nothing to record. */
export async function builtParts(
  context: RunContext,
  model: RuledModel,
  again: ReadAgain | null,
): Promise<BuiltParts | null> {
  const record = recordOf(context, model)
  if (record === null) return null
  const { left } = await recordedParts(context, model)
  if (rangeColumn(model) === null) return partsOfWhole(context, model, left)
  if (again === null || (again.from === null && again.late.length === 0)) return null
  const kept = await countLeft(context, model, again)
  return {
    ranges: rangesIn(again),
    ...(kept === 0 ? {} : { left: { ...left, left: left.left + kept } }),
  }
}

/** The SELECT was read whole, so what is not in it has the rule that it had. */
async function partsOfWhole(
  context: RunContext,
  model: RuledModel,
  before: LeftRows,
): Promise<BuiltParts | null> {
  const record = recordOf(context, model)
  // What another column has told apart is told no more where all is read.
  const isChanged =
    record !== null && (isRuleChanged(context, record, model) || !(await areOfRule(context, model)))
  if (!isChanged && before.left === 0) return null
  const kept = await countLeft(context, model, null)
  const left = isChanged ? kept : Math.min(kept, before.left)
  return { ranges: isChanged ? [{ start: null, end: null }] : [], left: { ...before, left } }
}

const rangesIn = ({ from, late }: ReadAgain): readonly ValueRange[] => [
  ...late,
  ...(from === null ? [] : [{ start: from, end: null }]),
]

function isReadIn(again: ReadAgain, value: Sql): Sql {
  const inside = rangesIn(again).map((range) => isWithin(value, range))
  return sql`(${sql.any(inside)}) AND ${again.isOlder(value)}`
}

/** Rows of the table that were not read again, though they lie where others were. */
async function countLeft(
  { connection }: RunContext,
  model: RuledModel,
  again: ReadAgain | null,
): Promise<number> {
  const column = rangeColumn(model)
  const isInRange =
    column === null || again === null ? sql`true` : isReadIn(again, sql`t.${sql.ident(column)}`)
  const isRead =
    model.uniqueKey.length > 0 || column === null
      ? hasKeyOf(STAGE, model.uniqueKey, sql`t`)
      : sql`t.${sql.ident(column)} IN (SELECT ${sql.ident(column)} FROM ${STAGE})`
  const row = await connection.row(sql`
    SELECT count(*) AS n FROM ${sql.relation(model.name)} t WHERE ${isInRange} AND NOT ${isRead}`)
  return numberOf(row?.['n'])
}
