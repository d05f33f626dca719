// A chart with its picture, or what stands in the place of one: it is asked for, failed, or has too much to draw.

import type { ComponentChildren } from 'preact'
import { writeFilter, type Test } from '../address/filter.ts'
import { writeOptions, encodeOption } from '../address/options.ts'
import type { Route } from '../address/route.ts'
import { type TimeRange, rangeBefore, sayRange } from '../address/time-range.ts'
import {
  type EntitySet,
  memberNames,
  type Property,
  hasTime,
  isFloating,
  isIntegral,
  kindOf,
  type Row,
  textOf,
} from '../model/schema.ts'
import { groupDigits } from '../model/show.ts'
import { usePage } from '../page.ts'
import { ProblemNote } from '../parts/problem.tsx'
import type { RowsContext } from '../rows/rows-context.ts'
import {
  chartData,
  chartTable,
  type Grouping,
  MOST_GROUPS,
  boundsRequest,
  type ChartData,
  chartRequest,
} from './chart-data.ts'
import type { ChartResultProps } from './chart-result.tsx'
import { type ChartState, describeChart, describeValue } from './chart-state.ts'
import { conditionFor, withCondition } from './pick.ts'
import { markAt, binsBetween } from './steps.ts'
import { type IncompleteEnds, incompleteEnds } from './incomplete.ts'
import { rangeOf, today } from '../rows/time-control.tsx'
import { type AnswerState, type Ask, useAnswer } from '../parts/use-answer.ts'
import { indexOf, unitBetween } from './time-units.ts'

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
  const published = page.catalog?.sets.find(({ name }) => name === set.name)
  const measure = published?.meaning?.measures.find(({ name }) => name === state.y)
  const format = state.method === 'measure' ? measure?.format : undefined
  const data = { ...chartData(state, grouping, request, answer.value), format }
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

// A chart as a component has it: first the ends of x, where the groups depend on them, then the groups.

const MOST_BINS = 40

/** `names`: the properties of the set and its navigation. */
function useChart(state: ChartState, set: string, x: Property, names: readonly string[]) {
  const path = encodeURIComponent(set)
  const bounds = boundsOf(state, x)
  const ends = useAnswer(
    bounds === null ? null : `${path}?$apply=${encodeOption(bounds)}`,
    async (service, request, options) => (await service.rows(request, options)).value[0] ?? {},
  )
  const grouping = groupingOf(state, x, bounds === null ? undefined : ends)
  // The path of x, with the type of what it leads to.
  const column = { ...x, name: state.x! }
  const request = grouping && chartRequest(state, grouping, { x: column, names })
  const query = request && `${path}?$apply=${encodeOption(request.apply)}&$top=${MOST_GROUPS + 1}`
  const rows = useAnswer(query ?? null, allRows)
  const answer = bounds !== null && ends.state === 'failed' ? ends : rows
  const isTooLarge = rows.state === 'here' && rows.value.length > MOST_GROUPS
  return {
    answer,
    request,
    grouping,
    query,
    isTooLarge,
    ends: ends.state === 'here' ? ends.value : undefined,
  }
}

/** The days of x that the filter asks for, where it does. */
function rangeOn({ conditions }: RowsContext, x: string): TimeRange | undefined {
  const found = conditions.find(
    (one): one is Test => one.kind === 'test' && one.column === x && one.operator === 'within',
  )
  return found && rangeOf(found)
}

/** What is asked for counts as covered, though there may be no rows on its first days. */
function incompleteOf(
  { marks }: ChartData,
  grouping: Grouping,
  range: TimeRange | undefined,
  ends: Row | undefined,
): IncompleteEnds | undefined {
  if (grouping.by !== 'time') return undefined
  const dayAt = (name: string) => textOf(ends?.[name]).slice(0, 10)
  if (range === undefined && dayAt('lo') === '') return undefined
  const { from, to } = range ?? { from: dayAt('lo'), to: dayAt('hi') }
  const covered = { from, to, isAsked: range !== undefined }
  return incompleteEnds(marks, grouping.unit, covered, today())
}

interface Compared {
  readonly state: ChartState
  readonly set: string
  readonly x: Property
  readonly names: readonly string[]
  readonly grouping: Grouping | undefined
  readonly range: TimeRange | undefined
  readonly context: RowsContext
}

/** The same chart of the period before, laid under the marks of this one; undefined where nobody wants it or it is not here. */
function useCompared({ state, set, x, names, grouping, range, context }: Compared) {
  const isWanted =
    state.isCompared && range !== undefined && grouping?.by === 'time' && state.by === null
  const before = isWanted ? rangeBefore(range) : undefined
  const filter =
    before &&
    writeFilter(
      withCondition(context.conditions, state.x!, {
        kind: 'test',
        column: state.x!,
        operator: 'within',
        values: [before.from, before.to],
      }),
      context.typeOf,
    )
  const request =
    filter === undefined || grouping === undefined
      ? undefined
      : chartRequest({ ...state, filter }, grouping, { x: { ...x, name: state.x! }, names })
  const query =
    request &&
    `${encodeURIComponent(set)}?$apply=${encodeOption(request.apply)}&$top=${MOST_GROUPS + 1}`
  const answer = useAnswer(query ?? null, allRows)
  if (!isWanted || answer.state !== 'here' || query === undefined) return undefined
  const { unit } = grouping as Extract<Grouping, { by: 'time' }>
  const shift = indexOf(Date.parse(range.from), unit) - indexOf(Date.parse(before!.from), unit)
  const values = new Map(
    request!
      .read(answer.value)
      .map(({ group, value }) => [group, value === null ? null : textOf(value)]),
  )
  return ({ marks }: ChartData) => ({
    query,
    name: sayRange(before!),
    values: marks.map(({ index }) => values.get((index as number) - shift) ?? null),
  })
}

/** The service may have smaller pages than a chart has groups. */
const allRows: Ask<readonly Row[]> = async (service, request, options) => {
  const rows: Row[] = []
  let next: string | undefined = request
  while (next !== undefined && rows.length <= MOST_GROUPS) {
    const answer = await service.rows(next, { ...options, pageSize: MOST_GROUPS + 1 })
    rows.push(...answer.value)
    next = answer.next
  }
  return rows
}

/** null where the groups are known without. */
function boundsOf(state: ChartState, x: Property): string | null {
  const kind = kindOf(x)
  if (kind === 'time') return boundsRequest(state, state.x!)
  return kind === 'number' ? boundsRequest(state, state.x!, isFloating(x)) : null
}

function groupingOf(
  state: ChartState,
  x: Property,
  ends: AnswerState<Row> | undefined,
): Grouping | undefined {
  const kind = kindOf(x)
  if (kind === 'time' && state.per !== null) return { by: 'time', unit: state.per }
  if (kind !== 'time' && kind !== 'number') return { by: 'value' }
  if (ends?.state !== 'here') return undefined
  const { lo, hi } = ends.value
  if (kind === 'time') {
    // Without a row there are no ends, and any unit shows nothing.
    if (typeof lo !== 'string' || typeof hi !== 'string') return { by: 'time', unit: 'day' }
    return { by: 'time', unit: unitBetween(lo, hi, { hasTime: hasTime(x), name: x.name }) }
  }
  const [least, greatest] = [Number(lo ?? 0), Number(hi ?? 0)]
  const options = { most: MOST_BINS, isWhole: isIntegral(x) }
  return { by: 'bins', bins: binsBetween(least, greatest, options) }
}
