// Rows that a run reads again though an older rule has made them: from the watermark on, when the rule of a model has changed.
// They take the place of those in the table, so that no row is there once for each rule.

import { type Sql, sql } from '../../core/sql.ts'
import { numberOf } from '../../duckdb/values.ts'
import type { LeftRows } from '../../store/older-rows.ts'
import type { RecordedRange } from '../../store/state.ts'
import { readFrom, sameValues, STAGE } from '../build/materialize/stage.ts'
import { touchedSince } from '../changes/touched.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import { inPart, isOfRule, isRuleChanged, partsOf, rangeColumn } from './parts.ts'
import type { RuledModel } from './rule.ts'

export interface ReadAgain {
  /** Whether rows of the table with this watermark were made by an older rule. */
  readonly isOlder: (watermark: Sql) => Sql
  /** From here on all rows that the source has were read again; null: only some that it has changed. */
  readonly from: string | null
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
  if (parts.every((part) => isOfRule(context, part, record, model))) return null
  const isOlder = (watermark: Sql) =>
    inPart(model, watermark, parts, (part) => !isOfRule(context, part, record, model))
  const name = sql.ident(column)
  const isAll = (await touchedSince(context, model))?.ranges === null
  const isLate = isAll
    ? sql`false`
    : sql`coalesce(${name} < ${readFrom(model.name, model.watermark!)}, false)`
  const [row] = await context.connection.texts(sql`
    SELECT CAST(min(${name}) FILTER (NOT ${isLate}) AS VARCHAR) AS "from", CAST(count(*) AS VARCHAR) AS n
    FROM ${STAGE} WHERE ${isOlder(name)}`)
  return row?.['n'] === '0' ? null : { isOlder, from: (row?.['from'] ?? null) as string | null }
}

/** Once the rows of the stage are in the table; null: there is nothing to record. */
export async function builtParts(
  context: RunContext,
  model: RuledModel,
  again: ReadAgain | null,
): Promise<BuiltParts | null> {
  const record = recordOf(context, model)
  if (record === null) return null
  const { left } = (await context.partsBefore())(model.name)
  if (rangeColumn(model) === null) return partsOfWhole(context, model, left)
  if (again?.from == null) return null
  const kept = await countLeft(context, model, again)
  return {
    ranges: [{ start: again.from, end: null }],
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
  const isChanged = record !== null && isRuleChanged(context, record, model)
  if (!isChanged && before.left === 0) return null
  const kept = await countLeft(context, model, null)
  const left = isChanged ? kept : Math.min(kept, before.left)
  return { ranges: isChanged ? [{ start: null, end: null }] : [], left: { ...before, left } }
}

/** Rows of the table that were not read again, though they lie where others were. */
async function countLeft(
  { connection }: RunContext,
  model: RuledModel,
  again: ReadAgain | null,
): Promise<number> {
  const column = rangeColumn(model)
  const isInRange =
    column === null || again === null || again.from === null
      ? sql`true`
      : sql`t.${sql.ident(column)} >= ${sql.value(again.from)} AND ${again.isOlder(sql`t.${sql.ident(column)}`)}`
  const isRead =
    model.uniqueKey.length > 0 || column === null
      ? sql`EXISTS (SELECT 1 FROM ${STAGE} s WHERE ${sameValues(model.uniqueKey, sql`t`, sql`s`)})`
      : sql`t.${sql.ident(column)} IN (SELECT ${sql.ident(column)} FROM ${STAGE})`
  const row = await connection.row(sql`
    SELECT count(*) AS n FROM ${sql.relation(model.name)} t WHERE ${isInRange} AND NOT ${isRead}`)
  return numberOf(row?.['n'])
}
