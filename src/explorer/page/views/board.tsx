// A board: charts that the project keeps as a file, with a sentence each, on one page.

import type { BoardChart, ShownBoard } from '../../../core/boards.ts'
import { readOptions, writeOptions } from '../address/options.ts'
import { ChartFigure } from '../chart/chart-result.tsx'
import {
  chartable,
  columnAt,
  columnGroups,
  proposals,
  readChartState,
  shownState,
} from '../chart/chart-state.ts'
import { useDrawnChart } from '../chart/use-drawn-chart.tsx'
import { type EntitySet, type Property } from '../model/schema.ts'
import { usePage, type ViewProps } from '../page.ts'
import { Link } from '../parts/link.tsx'
import { useValue } from '../parts/use-value.ts'
import { useRowsContext } from '../rows/rows-context.ts'
import '../chart/chart.css'
import '../pictures/pictures.css'
import './board.css'

export function BoardView({ route }: ViewProps<'board'>) {
  const boards = useValue(usePage().boards)
  if (boards === null) return <div class="board" aria-busy="true" />
  const board = boards.find(({ name }) => name === route.name)
  if (board === undefined)
    return (
      <section class="lost">
        <h1 tabIndex={-1}>
          No board is named <bdi>{route.name}</bdi>
        </h1>
        <p>
          It may have been renamed, or your token may read none of its sets.{' '}
          <Link to={{ view: 'home' }}>All sets and boards</Link>
        </p>
      </section>
    )
  return <Charts board={board} />
}

function Charts({ board }: { readonly board: ShownBoard }) {
  const { schema } = usePage()
  const { title, description, charts, hidden } = board
  return (
    <div class="board">
      <header>
        <h1 tabIndex={-1}>{title}</h1>
        {description !== null && <p>{description}</p>}
      </header>
      {charts.map((chart, i) => {
        const set = schema.set(chart.set)
        return set && <BoardChartOf key={i} chart={chart} set={set} />
      })}
      {hidden > 0 && (
        <p class="soft">
          {hidden} more {hidden === 1 ? 'chart is' : 'charts are'} of sets that are not published,
          or that your token may not read.
        </p>
      )}
    </div>
  )
}

interface BoardChartProps {
  readonly chart: BoardChart
  readonly set: EntitySet
}

function BoardChartOf({ chart, set }: BoardChartProps) {
  const { schema, catalog } = usePage()
  const published = catalog?.sets.find(({ name }) => name === set.name)
  const asked = readChartState(readOptions(chart.query))
  const state = shownState(asked, proposals(chartable(set, published)))
  const x = state.x === null ? undefined : columnAt(columnGroups(schema, set), state.x)
  if (x === undefined)
    return (
      <p class="problem">
        {chart.title ?? set.name}: there is no column {state.x} in {set.name}.
      </p>
    )
  return <Drawn chart={chart} set={set} state={state} x={x} />
}

interface DrawnProps extends BoardChartProps {
  readonly state: ReturnType<typeof readChartState>
  readonly x: Property
}

function Drawn({ chart, set, state, x }: DrawnProps) {
  // What is filtered in the picture leads to the chart itself.
  const context = useRowsContext(set, writeOptions(readOptions(chart.query)), 'chart')
  const { drawn, instead } = useDrawnChart(set, state, x, context)
  const name = chart.title ?? drawn?.title ?? set.name
  const title = (
    <div>
      <h2>
        <Link to={{ view: 'chart', set: set.name, query: chart.query }}>
          <bdi>{name}</bdi>
        </Link>
      </h2>
      {chart.text !== null && <p>{chart.text}</p>}
    </div>
  )
  if (drawn === null)
    return (
      <section aria-label={name}>
        {title}
        {instead}
      </section>
    )
  return <ChartFigure {...drawn} title={title} name={name} />
}
