// By which rules the rows of a table that goes on were made. Ranges of the watermark say it where somebody has changed the
// rule of a model whose table has rows (store/slices.ts); without any, all rows are of the rule that is recorded.

import { rangeColumnOf } from '../../core/range-column.ts'
import { hashOf } from '../../core/hash.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { ValueRange } from '../../core/step.ts'
import { isInRange, isWithin } from '../build/materialize/relation.ts'
import type { ModelRecord, RecordedRange } from '../../store/state.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import {
  type InForce,
  isSameRule,
  ownKey,
  partOfRule,
  type Rule,
  ruleFrom,
  type RuledModel,
  ruleOf,
  textOfRule,
} from './rule.ts'
import { recordedParts } from './recorded.ts'

/** A range of the watermark, and what its rows were made by. */
export interface Part extends ValueRange {
  readonly definition: string
  /** The text of a rule; null: an earlier version of eider has built it. */
  readonly rule: string | null
  /** When it was built; null: by a run that recorded no range. */
  readonly builtAt: string | null
}

/** The column that tells ranges apart; null: the SELECT is read whole, so there are none. */
export const rangeColumn = (model: RuledModel): string | null =>
  rangeColumnOf(model)?.column ?? null

export const ruleText = (context: InForce, model: RuledModel): string =>
  textOfRule(ruleOf(context, model))

/** What is recorded with the fingerprint of a model: its rule, and the column of its ranges. */
export function ruleKey(context: InForce, model: RuledModel): string {
  const [, inputs = ''] = ruleText(context, model).split('-')
  return `${ownKey(model)}-${columnKey(model)}-${inputs}`
}

const columnKey = (model: RuledModel): string => hashOf(16, [rangeColumn(model)])

interface RecordedRule extends Rule {
  readonly column: string | undefined
}

/** null: an earlier version of eider has built it. */
function recordedRule({ fingerprint }: ModelRecord): RecordedRule | null {
  const text = partOfRule(fingerprint)
  if (text === undefined) return null
  const [, own = '', column, inputs] = text.split('-')
  const rule = ruleFrom(inputs === undefined ? own : `${own}-${inputs}`)
  return rule === null ? null : { ...rule, column }
}

/** The parts of a fingerprint that tell what has changed (plan/decide.ts). */
export const withoutRule = (fingerprint: string): readonly string[] =>
  fingerprint.split('.').filter((part) => !part.startsWith('rule-'))

/** Whether the rows of the table, as they are recorded, were made by another rule than that of the model. */
export function isRuleChanged(context: InForce, record: ModelRecord, model: RuledModel): boolean {
  const before = recordedRule(record)
  const isEdited = record.definition !== model.definition
  if (before === null) return isEdited
  const now = ruleOf(context, model)
  // An earlier version has recorded the rule before with a range that was built by this definition.
  return !isSameRule(isEdited ? before : { ...before, own: now.own }, now)
}

const isColumnChanged = (record: ModelRecord, model: RuledModel): boolean => {
  const before = recordedRule(record)?.column
  return before !== undefined && before !== columnKey(model)
}

/** The parts of a table that goes on, oldest first: one of them contains each value that it has. */
export async function partsOf(context: RunContext, model: RuledModel): Promise<readonly Part[]> {
  const record = recordOf(context, model)
  if (record === null) return []
  const ranges = await (await recordedParts(context, model)).ranges()
  // Of periods that were never built there are no rows.
  if (model.kind === 'period' && record.kind === 'period') return ranges
  const { definition } = record
  const whole = {
    start: null,
    end: null,
    definition,
    rule: textOfRecord(context, record, model),
    builtAt: null,
  }
  // Ranges of another column say nothing of this one.
  if (isColumnChanged(record, model)) return [whole]
  return ranges.some(({ start, end }) => start === null && end === null)
    ? ranges
    : [whole, ...ranges]
}

/** Whether it is known without a look at each of them that all parts of the table are of the rule of the model. */
export async function areOfRule(context: RunContext, model: RuledModel): Promise<boolean> {
  const record = recordOf(context, model)
  if (record === null) return false
  const { summary } = await recordedParts(context, model)
  const whole = { definition: record.definition, rule: textOfRecord(context, record, model) }
  return [whole, ...summary.madeBy].every((part) => isOfRule(context, part, record, model))
}

function textOfRecord(context: InForce, record: ModelRecord, model: RuledModel): string | null {
  const rule = recordedRule(record)
  if (rule === null) return null
  const isEdited = record.definition !== model.definition
  return textOfRule(isEdited ? rule : { ...rule, own: ruleOf(context, model).own })
}

/** Whether the rows of the part are those that the model would make now. */
export function isOfRule(
  context: InForce,
  part: Pick<Part, 'definition' | 'rule'>,
  record: ModelRecord,
  model: RuledModel,
): boolean {
  const rule = ruleFrom(part.rule)
  if (rule !== null) return isSameRule(rule, ruleOf(context, model))
  if (part.definition === record.definition) return !isRuleChanged(context, record, model)
  return part.definition === model.definition
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
 * What a build has to record besides its own range, oldest first: the rule of all rows before, when it is the first by a new
 * one; and the ranges by the definition as it is now, when it has changed without the rule.
 */
export async function rangesBefore(
  context: RunContext,
  model: RuledModel,
): Promise<readonly RecordedRange[]> {
  const record = recordOf(context, model)
  if (record === null) return []
  const isSame = ({ definition }: Part) => definition === record.definition
  // From here on a period that is in no range counts as never built.
  const isNowPeriod = model.kind === 'period' && record.kind !== 'period'
  if (isNowPeriod || isRuleChanged(context, record, model)) {
    const parts = await partsOf(context, model)
    const rule = textOfRecord(context, record, model)
    // Only until now the definition has said which rule it was.
    const isUnsaid = (part: Part) => part.rule === null && isSame(part) && rule !== null
    if (!parts.some(isUnsaid)) return parts.filter(({ builtAt }) => builtAt === null)
    return parts.map((part) => (isUnsaid(part) ? { ...part, rule } : part))
  }
  if (record.definition === model.definition) return []
  const ranges = await (await recordedParts(context, model)).ranges()
  // A range by the same SELECT may be of an older rule of what that reads.
  const isOfNow = (range: Part) => isSame(range) && isOfRule(context, range, record, model)
  if (!ranges.some(isOfNow)) return []
  const now = { definition: model.definition, rule: ruleText(context, model) }
  return ranges.map((range) => (isOfNow(range) ? { ...range, ...now } : range))
}
