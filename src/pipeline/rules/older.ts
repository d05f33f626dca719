// How many rows of a table an older rule of its model has made, as plans and runs say until somebody rebuilds them, or says
// that they are meant to stay.

import { count, grouped } from '../../core/counts.ts'
import { kinds } from '../../core/kinds.ts'
import { watermarkOf } from '../../core/range-column.ts'
import type { Model } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { OlderRows, Slice } from '../../core/step.ts'
import { numberOf } from '../../duckdb/values.ts'
import type { LeftRows, NewLeft } from '../../store/older-rows.ts'
import type { RecordedRange } from '../../store/state.ts'
import { continuesTable, isInRange, isWithin } from '../build/materialize/relation.ts'
import { readFrom } from '../build/materialize/stage.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import {
  areOfRule,
  inPart,
  isOfRule,
  isRuleChanged,
  type Part,
  partsOf,
  rangeColumn,
  ruleText,
} from './parts.ts'
import {
  changedInputs,
  isSameOwn,
  isSameRule,
  keepsRules,
  ruleFrom,
  type RuledModel,
  ruleOf,
} from './rule.ts'
import { periodsToMake } from '../build/materialize/period-ranges.ts'
import { recordedParts } from './recorded.ts'

/** As the table is; or for a step that is to be done, as it leaves the table, where that can be told. */
export async function olderRows(
  context: RunContext,
  model: RuledModel,
  toDo: Slice | null,
): Promise<OlderRows | null> {
  const record = recordOf(context, model)
  if (record === null || !continuesTable(context, model)) return null
  const { left } = await recordedParts(context, model)
  if (left.left === 0 && (await areOfRule(context, model))) return null
  const parts = await partsOf(context, model)
  if (toDo === null || !isRuleChanged(context, record, model))
    return await countOlder(context, model, { parts, left, isMade: sql`false` })
  if (context.forwardOnly) return null
  const isMade = await willBeMade(context, model, toDo)
  return isMade === null ? null : await countOlder(context, model, { parts, left, isMade })
}

/** null: only the build can tell. */
async function willBeMade(
  context: RunContext,
  model: RuledModel,
  toDo: Slice,
): Promise<Sql | null> {
  const name = rangeColumn(model)
  if (name === null) return null
  const column = sql.ident(name)
  if (model.kind === 'period') {
    const ranges = await periodsToMake(context, model, toDo)
    return sql`(${sql.any(ranges.map((range) => isInRange(column, range)))})`
  }
  if (toDo !== 'whole') return isWithin(column, toDo)
  const watermark = watermarkOf(model)
  return watermark === null ? null : sql`${column} >= ${readFrom(model.name, watermark)}`
}

/** In the transaction of a build that records these ranges. */
export async function olderRowsAfter(
  context: RunContext,
  model: RuledModel,
  built: { readonly ranges: readonly RecordedRange[]; readonly left?: LeftRows },
): Promise<OlderRows | null> {
  const before = (await recordedParts(context, model)).left
  const left = built.left ?? before
  if (left.left === 0 && (await areOfRule(context, model))) return null
  const builtAt = new Date().toISOString()
  const made = built.ranges.map((range): Part => ({
    definition: model.definition,
    rule: ruleText(context, model),
    builtAt,
    ...range,
  }))
  const parts = [...(await partsOf(context, model)), ...made]
  return await countOlder(context, model, { parts, left, isMade: sql`false` })
}

/** What a build has to record of what older rules have left: `left` is what it has found, if anything. */
export async function leftAfter(
  context: RunContext,
  model: Model,
  left: LeftRows | undefined,
): Promise<{ readonly left?: NewLeft }> {
  if (!keepsRules(model)) return {}
  if (context.forwardOnly)
    return { left: { left: 0, meantAt: null, meantFor: meantBy(context, model), isMeant: true } }
  const record = recordOf(context, model)
  const known = left ?? (await recordedParts(context, model)).left
  const isRenamed =
    record !== null &&
    record.definition !== model.definition &&
    known.meantFor === record.definition &&
    !isRuleChanged(context, record, model)
  if (isRenamed) return { left: { ...known, meantFor: meantBy(context, model) } }
  return left === undefined ? {} : { left }
}

/** The rule of the model, as it is noted with what is meant to stay (store/older-rows.ts). */
const meantBy = (context: RunContext, model: RuledModel): string =>
  `${model.definition}.${ruleText(context, model)}`

interface Counted {
  readonly parts: readonly Part[]
  readonly left: LeftRows
  /** Rows that count as made by the rule of the model. */
  readonly isMade: Sql
}

async function countOlder(
  context: RunContext,
  model: RuledModel,
  { parts, left: { left, ...meant }, isMade }: Counted,
): Promise<OlderRows | null> {
  const record = recordOf(context, model)!
  const isOfNow = (part: Part) => isOfRule(context, part, record, model)
  const isOlder = (part: Part) => !isOfNow(part) && !isMeant(part, meant)
  if (left === 0 && !parts.some(isOlder)) return null
  const column = rangeColumn(model)
  const value = column === null ? sql`NULL` : sql.ident(column)
  const row = await context.connection.row(sql`
    SELECT count(*) AS "all", count(*) FILTER (${inPart(model, value, parts, isOlder)} AND NOT (${isMade})) AS older
    FROM ${sql.relation(model.name)}`)
  const of = numberOf(row?.['all'])
  const rows = Math.min(of, numberOf(row?.['older']) + left)
  return rows === 0
    ? null
    : {
        rows,
        of,
        ...wordsFor(model, {
          rows,
          of,
          left,
          since: sinceOf(parts, isOfNow, isOlder),
          inputs: inputsOf(context, model, parts.filter(isOlder)),
        }),
      }
}

/** Whether its rows are meant to stay as they are. */
export function isMeant(
  { builtAt, definition, rule }: Part,
  { meantAt, meantFor }: Omit<LeftRows, 'left'>,
): boolean {
  if (builtAt === null || meantAt === null || definition === meantFor) return false
  const [, text = null] = meantFor?.split('.') ?? []
  const [of, then] = [ruleFrom(rule), ruleFrom(text)]
  if (of !== null && then !== null && isSameRule(of, then)) return false
  return Date.parse(builtAt) <= Date.parse(meantAt)
}

/** When the rule in force came after the last of the older ones. */
function sinceOf(
  parts: readonly Part[],
  isOfNow: (part: Part) => boolean,
  isOlder: (part: Part) => boolean,
): string | null {
  const after = parts.slice(parts.findLastIndex(isOlder) + 1)
  const builtAt = after.find(isOfNow)?.builtAt ?? null
  return builtAt === null ? null : new Date(builtAt).toISOString()
}

/** What the model reads whose rules differ, where its own does not; empty: that, or nobody knows. */
function inputsOf(
  context: RunContext,
  model: RuledModel,
  older: readonly Part[],
): readonly ModelName[] {
  const found = new Set<ModelName>()
  for (const part of older) {
    const rule = ruleFrom(part.rule)
    if (rule === null || !isSameOwn(rule, ruleOf(context, model))) return []
    for (const name of changedInputs(context, model, rule)) found.add(name)
  }
  return [...found].toSorted()
}

interface Said {
  readonly rows: number
  readonly of: number
  readonly left: number
  readonly since: string | null
  readonly inputs: readonly ModelName[]
}

function wordsFor(
  model: RuledModel,
  { rows, of, left, since, inputs }: Said,
): Pick<OlderRows, 'since' | 'text' | 'ways'> {
  const some = `${left > 0 ? 'up to ' : ''}${grouped(rows)} of ${count(of, 'row')}`
  const text =
    inputs.length > 0
      ? `${some} were made by an older rule of ${inputs.join(', ')}`
      : since === null
        ? `${some} keep an older rule`
        : `${some} were made before the rule of ${since.slice(0, 16).replace('T', ' ')}`
  const { name, kind } = model
  // A SELECT that is read whole has no range.
  const takesRange = kinds[kind].takesRange && rangeColumn(model) !== null
  const range = takesRange ? ' with --start and --end a range of them,' : ''
  const rebuilt = left > 0 ? 'rebuilds what the source still has' : 'rebuilds them'
  const ways = `eider run ${name} --full-refresh ${rebuilt},${range} --forward-only keeps them`
  return { since, text, ways: ways.replace(', with', ', with') }
}
