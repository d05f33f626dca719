// By which definitions the rows of a table that goes on were made. Ranges of the watermark say it where somebody has changed
// the rule of a model whose table has rows (store/slices.ts); without any, all rows are of the definition that is recorded.
// Definitions that differ in checks, keys or what is served alone are of one rule.

import type { AppendModel, MergeModel, Model, PeriodModel } from '../../core/model.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { ValueRange } from '../../core/step.ts'
import { rangeColumnOf } from '../../core/range-column.ts'
import { isInRange, isWithin } from '../build/materialize/relation.ts'
import { hashOf } from '../../core/hash.ts'
import type { ModelRecord, RecordedRange } from '../../store/state.ts'
import { recordOf, type RunContext } from '../run-context.ts'

/** Kinds whose rows keep the rule that made them, until it is read again. Past versions of an scd2 are history. */
export type RuledModel = AppendModel | MergeModel | PeriodModel

export const keepsRules = (model: Model): model is RuledModel =>
  model.kind === 'append' || model.kind === 'merge' || model.kind === 'period'

/** A range of the watermark, and the definition that its rows were made by. */
export interface Part extends ValueRange {
  readonly definition: string
  /** When it was built; null: by a run that recorded no range. */
  readonly builtAt: string | null
}

/** The column that tells ranges apart; null: the SELECT is read whole, so there are none. */
export const rangeColumn = (model: RuledModel): string | null =>
  rangeColumnOf(model)?.column ?? null

/** What is recorded of a rule with the fingerprint of a model: itself, and the column of its ranges. */
export const ruleKey = (model: RuledModel): string =>
  `rule-${model.rule.slice(0, 16)}-${columnKey(model)}`

const columnKey = (model: RuledModel): string => hashOf(16, [rangeColumn(model)])

/** undefined: an older version of eider has built it. */
const recordedRule = ({ fingerprint }: ModelRecord): string | undefined =>
  fingerprint.split('.').find((part) => part.startsWith('rule-'))

/** The parts of a fingerprint that tell what has changed (plan/decide.ts). */
export const withoutRule = (fingerprint: string): readonly string[] =>
  fingerprint.split('.').filter((part) => !part.startsWith('rule-'))

/** Whether the rows of the table, as they are recorded, were made by another rule than that of the model. */
export function isRuleChanged(record: ModelRecord, model: RuledModel): boolean {
  if (record.definition === model.definition) return false
  const before = recordedRule(record)
  const now = ruleKey(model)
  return before === undefined || before.split('-')[1] !== now.split('-')[1]
}

const isColumnChanged = (record: ModelRecord, model: RuledModel): boolean => {
  const before = recordedRule(record)?.split('-')[2]
  return before !== undefined && before !== columnKey(model)
}

/** The parts of a table that goes on, oldest first: one of them contains each value that it has. */
export async function partsOf(context: RunContext, model: RuledModel): Promise<readonly Part[]> {
  const record = recordOf(context, model)
  if (record === null) return []
  const { ranges } = (await context.partsBefore())(model.name)
  // Of periods that were never built there are no rows.
  if (model.kind === 'period') return ranges
  const whole = { start: null, end: null, definition: record.definition, builtAt: null }
  // Ranges of another column say nothing of this one.
  if (isColumnChanged(record, model)) return [whole]
  return ranges.some(({ start, end }) => start === null && end === null)
    ? ranges
    : [whole, ...ranges]
}

/** Whether the rows of the part are those that the model would make now. */
export function isOfRule({ definition }: Part, record: ModelRecord, model: RuledModel): boolean {
  if (definition === model.definition) return true
  return definition === record.definition && !isRuleChanged(record, model)
}

/** Whether the newest part that contains the value fulfils `test`. */
export function inPart(
  { kind }: RuledModel,
  value: Sql,
  parts: readonly Part[],
  test: (part: Part) => boolean,
): Sql {
  const contains = kind === 'period' ? isInRange : isWithin
  const cases = parts.toReversed().map((part) => {
    return sql`WHEN ${contains(value, part)} THEN ${sql.value(test(part))}`
  })
  return cases.length === 0 ? sql`false` : sql`(CASE ${sql.join(cases, sql` `)} ELSE false END)`
}

/**
 * What a build has to record besides its own range, oldest first: the definition of all rows before, when it is the first
 * by a new rule; and the ranges by the definition as it is now, when it has changed without the rule.
 */
export async function rangesBefore(
  context: RunContext,
  model: RuledModel,
): Promise<readonly RecordedRange[]> {
  const record = recordOf(context, model)
  if (record === null || record.definition === model.definition) return []
  const parts = await partsOf(context, model)
  if (isRuleChanged(record, model)) return parts.filter(({ builtAt }) => builtAt === null)
  const { ranges } = (await context.partsBefore())(model.name)
  const isSame = ({ definition }: Part) => definition === record.definition
  if (!ranges.some(isSame)) return []
  return ranges.map((range) => (isSame(range) ? { ...range, definition: model.definition } : range))
}
