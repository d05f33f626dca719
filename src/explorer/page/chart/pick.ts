// From a mark of a chart, or from one to another, back to the rows: each is a condition of the filter.

import { type Condition, type TypeOfColumn } from '../address/filter.ts'
import { isTimeType } from '../address/time-range.ts'
import type { Value } from '../model/schema.ts'
import { conditionOf } from '../rows/table-actions.ts'
import type { ChartMark, Grouping } from './chart-data.ts'
import { edgeOf } from './steps.ts'
import { startOf } from './time-units.ts'

/** undefined where no condition means these marks, such as that of all others. */
export function conditionFor(
  x: string,
  grouping: Grouping,
  [first, last]: readonly [ChartMark, ChartMark],
  typeOf: TypeOfColumn,
): Condition | undefined {
  const [from, to] = [first.index, last.index]
  if (grouping.by === 'value') {
    // All others are a symbol.
    if (typeof from === 'symbol' || grouping.of !== undefined) return undefined
    return conditionOf(x, (from ?? null) as Value, true)
  }
  if (typeof from !== 'number' || typeof to !== 'number') return undefined
  if (grouping.by === 'bins') {
    const { bins } = grouping
    return {
      kind: 'text',
      text: `${x} ge ${edgeOf(bins, from)} and ${x} lt ${edgeOf(bins, to + 1)}`,
    }
  }
  const [start, end] = [startOf(from, grouping.unit), startOf(to + 1, grouping.unit)]
  const at = (ms: number) => new Date(ms).toISOString()
  if (grouping.unit !== 'hour' && isTimeType(typeOf(x)))
    return {
      kind: 'test',
      column: x,
      operator: 'within',
      values: [at(start).slice(0, 10), at(end - 1).slice(0, 10)],
    }
  const exact = (ms: number) => at(ms).replace('.000Z', 'Z')
  return { kind: 'text', text: `${x} ge ${exact(start)} and ${x} lt ${exact(end)}` }
}

/** The conditions with this one; a range takes the place of one of the same column. */
export function withCondition(
  conditions: readonly Condition[],
  x: string,
  next: Condition,
): readonly Condition[] {
  const isReplaced = (one: Condition) =>
    one.kind === 'test' && one.column === x && (one.operator === 'within' || one.operator === 'eq')
  return [...conditions.filter((one) => !isReplaced(one)), next]
}
