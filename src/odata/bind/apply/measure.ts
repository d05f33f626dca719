// `aggregate(revenue)`: a measure of the set by its name, a custom aggregate (Data Aggregation 4.0, section 3.2.1.3). What
// it computes is SQL that the compiler has made and bound: it names the columns of the set as they are stored, so the rows
// must have them under these names.

import { entitySetName } from '../../../core/names.ts'
import { didYouMean } from '../../../core/suggest.ts'
import type { MeasureProperty } from '../../edm/model.ts'
import { malformed, typeMismatch } from '../../protocol/errors.ts'
import type { AggregateItem } from '../../syntax/syntax.ts'
import type { ColumnValue, Relation, Total } from '../bound.ts'
import { type ApplyRows, around, type Input, propertyValue, rowVariable } from './rows.ts'

/** null: the item is no bare name. Throws where it is one that no measure has. */
export function measureOf(item: AggregateItem, input: Input): MeasureProperty | null {
  const { rows } = input
  const { value, method } = item
  requireSum(item, input)
  if (value?.kind !== 'path' || method !== null) return null
  const { measures } = rows.set.type
  const name = value.names.join('/')
  const found = measures.find((measure) => measure.name === name)
  if (found === undefined) throw neverSummed(name, item, input) ?? withoutMethod(item, name, rows)
  if (rows.added === null) {
    const problem = `"${name}" is computed from rows of ${rows.set.name}, and here the rows are groups (at character ${item.at + 1})`
    throw typeMismatch(`${problem}; name it in the aggregate that makes them`)
  }
  if (rows.joined !== undefined) {
    const problem = `"${name}" is computed from rows of ${rows.set.name}, and a join repeats them (at character ${item.at + 1})`
    throw typeMismatch(`${problem}; aggregate it before the join`)
  }
  return found
}

/** Averages, ratios and counts of different values that a rollup has as values are no parts of a sum. */
function requireSum(item: AggregateItem, input: Input): void {
  const { value, method } = item
  if (value?.kind !== 'path' || value.names.length !== 1 || input.rows.added === null) return
  if (!/^(?:sum|average|avg)$/i.test(method ?? '')) return
  const refused = neverSummed(value.names[0]!, item, input)
  if (refused !== null) throw refused
}

/** null: it may be summed. */
function neverSummed(name: string, { at }: AggregateItem, { rows, context }: Input) {
  const { rollup } = rows.set.type
  const column = rollup?.never.find((one) => one.name === name)
  if (rollup === undefined || column === undefined) return null
  const of = entitySetName(rollup.of)
  const instead = column.isMeasure
    ? `aggregate(${name}) computes it of its parts`
    : context.sets.has(of)
      ? `ask ${of} for it`
      : 'read it in the rows'
  return typeMismatch(`values of "${name}" cannot be added up (at character ${at + 1}): ${instead}`)
}

/** `sum(amount) as total` is how SQL has it. */
function withoutMethod({ name: alias, at }: AggregateItem, name: string, rows: ApplyRows) {
  const { measures } = rows.set.type
  const names = measures.map((measure) => measure.name)
  const hint =
    didYouMean(name, names) ??
    (names.length === 0 ? undefined : `the measures are ${names.slice(0, 5).join(', ')}`)
  const problem = `"${alias}" needs a method, such as "with sum" (at character ${at + 1})`
  return malformed(hint === undefined ? problem : `${problem}; ${hint}`)
}

export const measureTotal = (measure: MeasureProperty): Total => ({
  method: 'measure',
  type: measure.type,
  value: null,
  measure: measure.measure,
})

/** The same rows, which have the columns of these measures as they are stored. */
export function withStoredColumns(input: Input, measures: readonly MeasureProperty[]): Input {
  const { rows } = input
  if (measures.length === 0 || isStored(rows.relation)) return input
  const kept = [...rows.values, ...rows.order].flatMap((one) =>
    'mark' in one && one.mark !== undefined ? [one.property, one.mark] : [one.property],
  )
  const columns = new Map<string, ColumnValue>()
  for (const property of kept) {
    const { name } = property.column
    columns.set(name, { column: name, value: propertyValue(rows, property) })
  }
  for (const name of new Set(measures.flatMap(({ measure }) => measure.columns))) {
    const { property } = rows.values.find(({ path }) => path.length === 1 && path[0] === name)!
    columns.set(name, { column: name, value: propertyValue(rows, property) })
  }
  const { relation: from } = rows
  const row = rowVariable(rows)
  return {
    ...input,
    rows: around(rows, { kind: 'project', from, row, columns: [...columns.values()] }),
  }
}

/** Whether its columns are those of the set. */
const isStored = (relation: Relation): boolean =>
  relation.kind === 'set' || (relation.kind === 'filter' && isStored(relation.from))
