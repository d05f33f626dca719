import { readOptions, withOptions, writeOptions } from '../address/options.ts'
import {
  chartable,
  columnAt,
  columnGroups,
  type ChartState,
  methodNames,
  proposals,
  readChartState,
  writeChartState,
} from '../chart/chart-state.ts'
import { chartData, chartTable } from '../chart/chart-data.ts'
import { ChartForm, type ChartFormProps } from '../chart/chart-form.tsx'
import { ChartResult } from '../chart/chart-result.tsx'
import { type Grouping, MOST_GROUPS } from '../chart/chart-request.ts'
import { useChart } from '../chart/use-chart.ts'
import { markAt } from '../chart/steps.ts'
import type { EntitySet, Property } from '../model/schema.ts'
import { groupDigits } from '../model/show.ts'
import { usePage, type ViewProps } from '../page.ts'
import { Link } from '../parts/link.tsx'
import { ProblemNote } from '../parts/problem.tsx'
import { FilterBar } from '../rows/filter-bar.tsx'
import { useRowsContext } from '../rows/rows-context.ts'
import '../chart/chart.css'

export function ChartView({ route }: ViewProps<'chart'>) {
  const page = usePage()
  const set = page.schema.set(route.set)!
  const options = readOptions(route.query)
  const proposed = proposals(chartable(set))
  const asked = readChartState(options)
  // Without an x the address leaves it to the page what to show.
  const state: ChartState = asked.x === null ? { ...asked, ...proposed[0] } : asked
  const groups = columnGroups(page.schema, set)
  const x = state.x === null ? undefined : columnAt(groups, state.x)
  const addressOf = (changes: Partial<ChartState>) => {
    const written = writeChartState({ ...state, ...changes })
    return { ...route, query: writeOptions(withOptions(options, written)) }
  }
  const onChange = (changes: Partial<ChartState>) => page.navigate(addressOf(changes))
  const form = { state, groups, onChange }
  return (
    <>
      <nav class="proposals" aria-label="Proposed charts">
        {proposed.map((one) => {
          const isCurrent = state.x === one.x && state.y === one.y && state.method === one.method
          return (
            <Link
              key={describe(one)}
              to={addressOf({ ...one, per: null, by: null })}
              current={isCurrent}
            >
              {describe(one)}
            </Link>
          )
        })}
      </nav>
      <FilterBar context={useRowsContext(set, route.query, 'chart')} error={undefined} />
      {x === undefined ? (
        <>
          <ChartForm {...form} x={x} y={undefined} grouping={undefined} />
          <p>
            {state.x === null
              ? 'No column of this set makes a chart.'
              : `There is no column ${state.x} to make a chart of.`}
          </p>
        </>
      ) : (
        <Chart {...form} set={set} x={x} />
      )}
    </>
  )
}

interface ChartProps extends Pick<ChartFormProps, 'state' | 'groups' | 'onChange'> {
  readonly set: EntitySet
  readonly x: Property
}

function Chart({ set, x, ...form }: ChartProps) {
  const { state, groups } = form
  const names = [...set.properties, ...set.navigations].map(({ name }) => name)
  const { answer, request, grouping, query, isTooLarge } = useChart(state, {
    set: set.name,
    x,
    names,
  })
  const y = state.y === null ? undefined : columnAt(groups, state.y)
  const title = `${capitalised(describe(state))}${per(grouping)}${state.by === null ? '' : `, coloured by ${state.by}`}`
  const shown = () => {
    if (answer.state === 'failed') return <ProblemNote error={answer.error} again={answer.again} />
    if (answer.state === 'waiting' || request === undefined || grouping === undefined)
      return <div class="chart-figure chart-wait" aria-busy="true" />
    if (isTooLarge)
      return (
        <p role="status">
          There are more than {groupDigits(MOST_GROUPS)} groups. Choose a longer unit of time, a
          filter, or a column of fewer values.
        </p>
      )
    const data = chartData(state, grouping, request, answer.value)
    const table = chartTable(data, `${state.x}`, describeValue(state))
    return <ChartResult set={set} data={data} table={table} title={title} query={query!} />
  }
  return (
    <>
      <ChartForm {...form} x={x} y={y} grouping={grouping} />
      {shown()}
    </>
  )
}

type Described = Pick<ChartState, 'x' | 'y' | 'method'>

function describe(state: Described): string {
  return `${describeValue(state)} by ${state.x}`
}

function describeValue({ y, method }: Described): string {
  return y === null ? 'rows' : `${methodNames[method]} of ${y}`
}

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function per(grouping: Grouping | undefined): string {
  if (grouping?.by === 'time') return ` per ${grouping.unit}`
  if (grouping?.by === 'bins') return ` in steps of ${markAt(1, grouping.bins.step)}`
  return ''
}
