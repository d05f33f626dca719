import { encodeOption, readOptions, withOptions, writeOptions } from '../address/options.ts'
import {
  canBeColour,
  canBeX,
  chartable,
  type ChartState,
  columnAt,
  type ColumnGroup,
  columnGroups,
  DEFAULT_FIRST,
  type Method,
  methodNames,
  methodsFor,
  proposals,
  readChartState,
  writeChartState,
} from '../chart/chart-state.ts'
import {
  boundsRequest,
  chartData,
  chartRequest,
  chartTable,
  type Grouping,
  MOST_GROUPS,
} from '../chart/chart-data.ts'
import { ChartResult } from '../chart/chart-result.tsx'
import { binsBetween, markAt } from '../chart/steps.ts'
import {
  type EntitySet,
  hasTime,
  isFloating,
  isIntegral,
  kindOf,
  memberNames,
  type Property,
  type Row,
} from '../model/schema.ts'
import { groupDigits } from '../model/show.ts'
import { usePage, type ViewProps } from '../page.ts'
import { Link } from '../parts/link.tsx'
import { ProblemNote } from '../parts/problem.tsx'
import { FilterBar } from '../rows/filter-bar.tsx'
import { useRowsContext } from '../rows/rows-context.ts'
import { type AnswerState, type Ask, useAnswer } from '../parts/use-answer.ts'
import { timeUnits, unitBetween } from '../chart/time-units.ts'
import { type Option, Select, type SelectProps } from '../parts/select.tsx'
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
  const names = memberNames(set)
  const { answer, request, grouping, query, isTooLarge } = useChart(state, set.name, x, names)
  const y = state.y === null ? undefined : columnAt(groups, state.y)
  const title = `${capitalised(describe(state))}${per(grouping)}${state.by === null ? '' : `, coloured by ${state.by}`}`
  const shown = () => {
    if (answer.state === 'failed') return <ProblemNote {...answer} />
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
  return { answer, request, grouping, query, isTooLarge }
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
  if (kind === 'time') return state.per === null ? boundsRequest(state, state.x!) : null
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
    return { by: 'time', unit: unitBetween(lo, hi, { hasTime: hasTime(x) }) }
  }
  const [least, greatest] = [Number(lo ?? 0), Number(hi ?? 0)]
  const options = { most: MOST_BINS, isWhole: isIntegral(x) }
  return { by: 'bins', bins: binsBetween(least, greatest, options) }
}

interface ChartFormProps {
  readonly state: ChartState
  readonly groups: readonly ColumnGroup[]
  readonly x: Property | undefined
  readonly y: Property | undefined
  /** The grouping that was chosen where the state leaves it to the values. */
  readonly grouping: Grouping | undefined
  readonly onChange: (changes: Partial<ChartState>) => void
}

function ChartForm({ state, groups, x, y, grouping, onChange }: ChartFormProps) {
  const own = groups.find(({ navigation }) => navigation === null)?.columns ?? []
  const chooseY = (path: string) => {
    const column = own.find((one) => one.path === path)?.property
    const method = column && methodsFor(column)[0]!
    onChange({ y: column === undefined ? null : path, method: method ?? 'count' })
  }
  const proposed = state.per === null && grouping?.by === 'time' ? ` (${grouping.unit})` : ''
  const steps = new Set([5, 10, DEFAULT_FIRST, 50, 100, 500, state.first])
  return (
    <form class="chart-form" aria-label="Chart" onSubmit={(event) => event.preventDefault()}>
      <Choice
        name="Value"
        value={state.y ?? ''}
        options={[['', 'rows'], ...own.map(({ path }) => path)]}
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
