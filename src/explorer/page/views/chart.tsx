import { readOptions, withOptions, writeOptions } from '../address/options.ts'
import {
  canBeColour,
  canBeX,
  chartable,
  type ChartState,
  columnAt,
  type ColumnGroup,
  columnGroups,
  DEFAULT_FIRST,
  describeChart,
  type Method,
  methodNames,
  methodsFor,
  proposals,
  readChartState,
  shownState,
  writeChartState,
} from '../chart/chart-state.ts'
import type { Grouping } from '../chart/chart-data.ts'
import { ChartResult } from '../chart/chart-result.tsx'
import { useDrawnChart } from '../chart/use-drawn-chart.tsx'
import { type EntitySet, hasTime, kindOf, type Property } from '../model/schema.ts'
import { usePage, type ViewProps } from '../page.ts'
import { Link } from '../parts/link.tsx'
import { FilterBar } from '../rows/filter-bar.tsx'
import { type RowsContext, useRowsContext } from '../rows/rows-context.ts'
import { rangeBefore, sayRange } from '../address/time-range.ts'
import { timeUnits } from '../chart/time-units.ts'
import { type Option, Select, type SelectProps } from '../parts/select.tsx'
import '../chart/chart.css'

export function ChartView({ route }: ViewProps<'chart'>) {
  const page = usePage()
  const set = page.schema.set(route.set)!
  const options = readOptions(route.query)
  const published = page.catalog?.sets.find(({ name }) => name === set.name)
  const proposed = proposals(chartable(set, published))
  const state = shownState(readChartState(options), proposed)
  const groups = columnGroups(page.schema, set)
  const x = state.x === null ? undefined : columnAt(groups, state.x)
  const addressOf = (changes: Partial<ChartState>) => {
    const written = writeChartState({ ...state, ...changes })
    return { ...route, query: writeOptions(withOptions(options, written)) }
  }
  const onChange = (changes: Partial<ChartState>) => page.navigate(addressOf(changes))
  const context = useRowsContext(set, route.query, 'chart')
  const form = { set, state, groups, onChange, context }
  return (
    <>
      <nav class="proposals" aria-label="Proposed charts">
        {proposed.map((one) => {
          const isCurrent = state.x === one.x && state.y === one.y && state.method === one.method
          return (
            <Link
              key={`${one.x} ${one.y} ${one.method}`}
              to={addressOf({ ...one, per: null, by: null })}
              current={isCurrent}
            >
              {describeChart(one, set.measures)}
            </Link>
          )
        })}
      </nav>
      <FilterBar context={context} error={undefined} />
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
        <Chart {...form} x={x} />
      )}
    </>
  )
}

interface ChartProps extends Pick<
  ChartFormProps,
  'set' | 'state' | 'groups' | 'onChange' | 'context'
> {
  readonly x: Property
}

function Chart({ x, ...form }: ChartProps) {
  const { set, state, groups, context } = form
  const { grouping, range, drawn, instead } = useDrawnChart(set, state, x, context)
  const isMeasure = state.method === 'measure'
  const y = state.y === null || isMeasure ? undefined : columnAt(groups, state.y)
  return (
    <>
      <ChartForm {...form} x={x} y={y} grouping={grouping} />
      {range !== undefined && grouping?.by === 'time' && state.by === null && (
        <label class="check">
          <input
            type="checkbox"
            checked={state.isCompared}
            onChange={(event) => form.onChange({ isCompared: event.currentTarget.checked })}
          />
          compare with {sayRange(rangeBefore(range))}
        </label>
      )}
      {drawn === null ? instead : <ChartResult {...drawn} />}
    </>
  )
}

interface ChartFormProps {
  readonly set: EntitySet
  readonly state: ChartState
  readonly groups: readonly ColumnGroup[]
  readonly x: Property | undefined
  readonly y: Property | undefined
  /** The grouping that was chosen where the state leaves it to the values. */
  readonly grouping: Grouping | undefined
  readonly onChange: (changes: Partial<ChartState>) => void
  readonly context: RowsContext
}

function ChartForm({ set, state, groups, x, y, grouping, onChange }: ChartFormProps) {
  const own = groups.find(({ navigation }) => navigation === null)?.columns ?? []
  const chooseY = (path: string) => {
    if (path.startsWith(MEASURE))
      return onChange({ y: path.slice(MEASURE.length), method: 'measure' })
    const column = own.find((one) => one.path === path)?.property
    const method = column && methodsFor(column)[0]!
    return onChange({ y: column === undefined ? null : path, method: method ?? 'count' })
  }
  const proposed = state.per === null && grouping?.by === 'time' ? ` (${grouping.unit})` : ''
  const steps = new Set([5, 10, DEFAULT_FIRST, 50, 100, 500, state.first])
  return (
    <form class="chart-form" aria-label="Chart" onSubmit={(event) => event.preventDefault()}>
      <Choice
        name="Value"
        value={state.method === 'measure' ? MEASURE + state.y : (state.y ?? '')}
        options={[['', 'rows'], ...measuresOf(set), ...own.map(({ path }) => path)]}
        onChange={chooseY}
      />
      {y !== undefined && (
        <Choice
          name="Method"
          value={state.method}
          options={methodsFor(y).map((method) => [method, methodNames[method]])}
          onChange={(method) => onChange({ method: method as Method })}
        />
      )}
      <Choice
        name="By"
        value={state.x ?? ''}
        options={pathsOf(groups, canBeX)}
        onChange={(path) => onChange({ x: path, per: null })}
      />
      {x !== undefined && kindOf(x) === 'time' && (
        <Choice
          name="Per"
          value={state.per ?? ''}
          options={[
            ['', `as fits${proposed}`],
            ...timeUnits.filter((unit) => unit !== 'hour' || hasTime(x)),
          ]}
          onChange={(per) => onChange({ per: timeUnits.find((unit) => unit === per) ?? null })}
        />
      )}
      {grouping?.by === 'value' && (
        <Choice
          name="First"
          value={String(state.first)}
          options={[...steps].toSorted((a, b) => a - b).map(String)}
          onChange={(first) => onChange({ first: Number(first) })}
        />
      )}
      <Choice
        name="Colour"
        value={state.by ?? ''}
        options={[['', 'none'], ...pathsOf(groups, canBeColour)]}
        onChange={(by) => onChange({ by: by || null })}
      />
    </form>
  )
}

/** Columns have no blank in their names. */
const MEASURE = 'measure '

const measuresOf = ({ measures }: EntitySet): readonly Option[] =>
  measures.length === 0
    ? []
    : [
        {
          group: 'Measures',
          values: measures.map(({ name, label }) => [MEASURE + name, label ?? name] as const),
        },
      ]

function Choice({ name, ...select }: SelectProps) {
  return (
    <label class="chart-choice">
      <span>{name}</span>
      <Select {...select} />
    </label>
  )
}

function pathsOf(
  groups: readonly ColumnGroup[],
  isWanted: (column: Property) => boolean,
): readonly Option[] {
  return groups.flatMap(({ navigation, columns }): readonly Option[] => {
    const values = columns.filter(({ property }) => isWanted(property)).map(({ path }) => path)
    if (navigation === null) return values
    return values.length === 0 ? [] : [{ group: navigation, values }]
  })
}
