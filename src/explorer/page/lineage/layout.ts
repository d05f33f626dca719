// Where the nodes of the graph are drawn. The library that lays them out is loaded when a graph is first shown.

import type { ColumnPaths, LineageGraph, LineageNode } from './graph.ts'

interface Point {
  readonly x: number
  readonly y: number
}

export interface PlacedNode {
  readonly node: LineageNode
  /** The upper left corner. */
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** Those that are on the way of the chosen column. */
  readonly columns: readonly string[]
}

interface PlacedEdge {
  readonly from: string
  readonly to: string
  readonly points: readonly Point[]
}

export interface GraphLayout {
  /** The edge of the part with something in it. */
  readonly left: number
  readonly width: number
  readonly height: number
  readonly nodes: ReadonlyMap<string, PlacedNode>
  readonly edges: readonly PlacedEdge[]
}

export const HEAD = 42
export const COLUMN = 19
const CHARACTER = 8
const FACTS_CHARACTER = 6.5
const BESIDE = 34
const LEAST_WIDTH = 90
const MOST_WIDTH = 250
const MARGIN = 8

export async function layoutOf(
  graph: LineageGraph,
  shown: ReadonlySet<string>,
  paths: ColumnPaths | null,
  factsOf: (node: LineageNode) => string,
): Promise<GraphLayout> {
  const { Graph, layout } = await import('@dagrejs/dagre')
  const drawing = new Graph()
  drawing.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 48, marginx: MARGIN, marginy: MARGIN })
  drawing.setDefaultEdgeLabel(() => ({}))
  const columnsOf = (id: string) => paths?.columns.get(id) ?? []
  for (const [id, node] of graph.nodes) {
    if (!shown.has(id)) continue
    const columns = columnsOf(id)
    drawing.setNode(id, {
      width: widthOf(node, columns, factsOf(node)),
      height: HEAD + (columns.length === 0 ? 0 : columns.length * COLUMN + 6),
    })
  }
  const edges = [...graph.reads].flatMap(([to, origins]) =>
    origins.filter((from) => shown.has(from) && shown.has(to)).map((from) => ({ from, to })),
  )
  for (const { from, to } of edges) drawing.setEdge(from, to)
  alignEnds(drawing, graph, shown)
  layout(drawing)
  const nodes = new Map<string, PlacedNode>()
  for (const id of drawing.nodes()) {
    if (id === FIRST || id === LAST) continue
    const { x, y, width, height } = drawing.node(id) as Required<PlacedNode>
    const node = graph.nodes.get(id)!
    const columns = columnsOf(id)
    nodes.set(id, { node, x: x - width / 2, y: y - height / 2, width, height, columns })
  }
  const placed = [...nodes.values()]
  const left = Math.min(...placed.map(({ x }) => x)) - MARGIN
  const right = Math.max(...placed.map(({ x, width }) => x + width)) + MARGIN
  const { height = 0 } = drawing.graph() as { height?: number }
  return {
    left,
    width: right - left,
    height,
    nodes,
    edges: edges.map(({ from, to }) => {
      const { points } = drawing.edge(from, to) as { points: readonly Point[] }
      const [a, b] = [nodes.get(from)!, nodes.get(to)!]
      // In and out at the sides, also where the line between two points would leave by a corner.
      const start = { x: a.x + a.width, y: a.y + a.height / 2 }
      const end = { x: b.x, y: b.y + b.height / 2 }
      // Between neighbouring layers a straight way is the clearest; past others it goes where there is room.
      const isFar = points.length > 3
      const between = isFar ? points.slice(1, -1).filter(({ x }) => x > start.x && x < end.x) : []
      return { from, to, points: [start, ...between, end] }
    }),
  }
}

const FIRST = ' first'
const LAST = ' last'
/** Compared with a line of this weight all others may be as long as they need. */
const ALIGNING = 100

/** What comes from outside is the first layer, entity sets are the last, by lines to a node before and one after all. */
function alignEnds(
  drawing: {
    setNode(id: string, label: object): unknown
    setEdge(from: string, to: string, label: object): unknown
  },
  { nodes, reads }: LineageGraph,
  shown: ReadonlySet<string>,
): void {
  const none = { width: 0, height: 0 }
  drawing.setNode(FIRST, none)
  drawing.setNode(LAST, none)
  for (const [id, { kind }] of nodes) {
    if (!shown.has(id)) continue
    const reader = reads.get(id)!.some((one) => shown.has(one))
    if (!reader) drawing.setEdge(FIRST, id, { weight: ALIGNING })
    if (kind === 'set') drawing.setEdge(id, LAST, { weight: ALIGNING })
  }
}

function widthOf({ name }: LineageNode, columns: readonly string[], facts: string): number {
  const longest = Math.max(name.length, ...columns.map((column) => column.length))
  const width = Math.max(longest * CHARACTER + BESIDE, facts.length * FACTS_CHARACTER + BESIDE)
  return Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, width))
}

/** How many characters of a name a node has room for. */
export const charactersIn = (width: number) => Math.floor((width - BESIDE) / CHARACTER) + 1

/** A smooth line through the points that the layout leads an edge by. */
export function pathThrough(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (first === undefined) return ''
  const parts = [`M${place(first)}`]
  let before = first
  for (const point of rest) {
    const middle = (before.x + point.x) / 2
    parts.push(`C${middle},${before.y} ${middle},${point.y} ${place(point)}`)
    before = point
  }
  return parts.join(' ')
}

/** From the right side of one column to the left side of another. */
export function columnLine(from: PlacedNode, a: string, to: PlacedNode, b: string): string {
  const at = (node: PlacedNode, column: string) =>
    node.y + HEAD + (node.columns.indexOf(column) + 0.5) * COLUMN
  return pathThrough([
    { x: from.x + from.width, y: at(from, a) },
    { x: to.x, y: at(to, b) },
  ])
}

const place = ({ x, y }: Point) => `${x.toFixed(1)},${y.toFixed(1)}`
