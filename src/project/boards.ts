// boards/<name>.yml: title, description, and charts by their addresses in the explorer.

import type { Node } from 'yaml'
import { type Board, readChartAddress } from '../core/boards.ts'
import type { Diagnostic } from '../core/diagnostics.ts'
import { limits } from '../core/limits.ts'
import type { PlacedBoard, PlacedChart } from '../core/project.ts'
import type { SourceFile } from '../core/source-text.ts'
import {
  isAbsent,
  groupOf,
  itemsOf,
  type Members,
  type Reader,
  readerInto,
  spanOf,
} from './members.ts'
import { parseYaml } from './yaml-problems.ts'

const boardKeys = ['title', 'description', 'charts'] as const
const chartKeys = ['title', 'text', 'chart'] as const

const EXPECTED = {
  text: 'a text',
  charts: `a list of at most ${limits.boardCharts} charts`,
  chart: 'the address of a chart in the explorer, such as /sets/core_orders/chart?x=status',
}

interface ReadBoard {
  /** null where the file is no board. */
  readonly board: PlacedBoard | null
  readonly problems: readonly Diagnostic[]
}

/** A chart that is not understood is left out, and is among the problems. */
export function readBoard(name: string, source: SourceFile): ReadBoard {
  const { document, problems: wrong } = parseYaml(source)
  const problems = [...wrong]
  const root = document.contents as Node | null
  if (problems.length > 0 || isAbsent(root)) return { board: null, problems }
  const reader = readerInto(problems, source)
  const members = groupOf(root, 'board', boardKeys, reader)
  if (members === null) return { board: null, problems }
  const list = members.node('charts') ?? null
  const items = itemsOf(list, 'board.charts', EXPECTED.charts, reader)
  if (items.length > limits.boardCharts) reader.refuse(list!, 'board.charts', EXPECTED.charts)
  const charts = items
    .slice(0, limits.boardCharts)
    .map((item, i) => readChart(item, `board.charts.${i + 1}`, reader))
  const board = {
    name,
    title: members.text('title', EXPECTED.text) ?? name,
    description: members.text('description', EXPECTED.text),
    charts: charts.filter((chart) => chart !== null),
    source,
  }
  return { board, problems }
}

function readChart(item: Node, path: string, reader: Reader): PlacedChart | null {
  const members = groupOf(item, path, chartKeys, reader)
  if (members === null) return null
  const address = addressOf(members)
  if (address === null) return null
  return {
    title: members.text('title', EXPECTED.text),
    text: members.text('text', EXPECTED.text),
    ...address,
    span: spanOf(members.node('chart')!),
  }
}

function addressOf(members: Members): Pick<PlacedChart, 'set' | 'query'> | null {
  if (!members.has('chart')) return members.refuseMember('chart', EXPECTED.chart)
  const text = members.text('chart', EXPECTED.chart)
  if (text === null) return null
  const hint = 'open the chart in the explorer, and copy the address of the browser'
  return readChartAddress(text) ?? members.refuseMember('chart', EXPECTED.chart, hint)
}

export const withoutPlaces = ({ name, title, description, charts }: PlacedBoard): Board => ({
  name,
  title,
  description,
  charts: charts.map(({ title, text, set, query }) => ({ title, text, set, query })),
})
