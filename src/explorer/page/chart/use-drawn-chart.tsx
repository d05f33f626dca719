// A chart with its picture, or what stands in the place of one: it is asked for, failed, or has too much to draw.

import type { ComponentChildren } from 'preact'
import { writeFilter } from '../address/filter.ts'
import { writeOptions } from '../address/options.ts'
import type { Route } from '../address/route.ts'
import type { TimeRange } from '../address/time-range.ts'
import { type EntitySet, memberNames, type Property } from '../model/schema.ts'
import { groupDigits } from '../model/show.ts'
import { usePage } from '../page.ts'
import { ProblemNote } from '../parts/problem.tsx'
import type { RowsContext } from '../rows/rows-context.ts'
import { chartData, chartTable, type Grouping, MOST_GROUPS } from './chart-data.ts'
import type { ChartResultProps } from './chart-result.tsx'
import { type ChartState, describeChart, describeValue } from './chart-state.ts'
import { conditionFor, withCondition } from './pick.ts'
import { markAt } from './steps.ts'
import { incompleteOf, rangeOn, useChart, useCompared } from './use-chart.ts'

interface DrawnChart {
  readonly grouping: Grouping | undefined
  /** The days of x that the filter asks for. */
  readonly range: TimeRange | undefined
  /** null: it cannot be drawn, or not yet, and `instead` says why. */
  readonly drawn: ChartResultProps | null
  readonly instead: ComponentChildren
}

/** `state.x` is the path of `x`. */
export function useDrawnChart(
  set: EntitySet,
  state: ChartState,
  x: Property,
  context: RowsContext,
): DrawnChart {
  const page = usePage()
  const names = memberNames(set)
  const { answer, request, grouping, query, isTooLarge, ends } = useChart(state, set.name, x, names)
  const range = rangeOn(context, state.x!)
  const compared = useCompared({ state, set: set.name, x, names, grouping, range, context })
  const without = (instead: ComponentChildren) => ({ grouping, range, drawn: null, instead })
  if (answer.state === 'failed') return without(<ProblemNote {...answer} />)
  if (answer.state === 'waiting' || request === undefined || grouping === undefined)
    return without(<div class="chart-figure chart-wait" aria-busy="true" />)
  if (isTooLarge)
    return without(
      <p role="status">
        There are more than {groupDigits(MOST_GROUPS)} groups. Choose a longer unit of time, a
        filter, or a column of fewer values.
      </p>,
    )
  const data = chartData(state, grouping, request, answer.value)
  const conditionOf = (first: number, last: number) =>
    conditionFor(state.x!, grouping, [data.marks[first]!, data.marks[last]!], context.typeOf)
  const rowsOf = (i: number): Route | undefined => {
    const condition = conditionOf(i, i)
    if (condition === undefined) return undefined
    const next = withCondition(context.conditions, state.x!, condition)
    const filter = writeFilter(next, context.typeOf)
    return { view: 'rows', set: set.name, query: writeOptions(new Map([['$filter', filter]])) }
  }
  const drawn = {
    set,
    data,
    table: chartTable(data, `${state.x}`, describeValue(state, set.measures)),
    title: titleOf(set, state, grouping),
    query: query!,
    onPick(first: number, last: number) {
      const rows = rowsOf(first)
      if (first === last) return rows && page.navigate(rows)
      const condition = conditionOf(first, last)
      if (condition) context.filter(withCondition(context.conditions, state.x!, condition))
    },
    rowsOf,
    incomplete: incompleteOf(data, grouping, range, ends),
    unit: grouping.by === 'time' ? grouping.unit : undefined,
    compared: compared?.(data),
  }
  return { grouping, range, drawn, instead: null }
}

function titleOf({ measures }: EntitySet, state: ChartState, grouping: Grouping): string {
  const text = describeChart(state, measures)
  const colour = state.by === null ? '' : `, coloured by ${state.by}`
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${per(grouping)}${colour}`
}

function per(grouping: Grouping): string {
  if (grouping.by === 'time') return ` per ${grouping.unit}`
  if (grouping.by === 'bins') return ` in steps of ${markAt(1, grouping.bins.step)}`
  return ''
}
