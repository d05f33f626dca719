import type { Graph } from '@dagrejs/dagre'
import { useEffect, useRef } from 'preact/hooks'
import { groupDigits } from '../model/show.ts'
import { type Page, usePage } from '../page.ts'
import { Link } from '../parts/link.tsx'
import { type ColumnPaths, type LineageGraph, type LineageNode, lineageRoute } from './graph.ts'
import type { Fold } from './fold.ts'
import { moveByKey } from './move.ts'
import type { ModelChange } from '../../../core/catalog.ts'

interface LineagePictureProps {
  readonly layout: GraphLayout
  readonly chosen: LineageNode | null
  readonly column: string | null
  readonly opened: ReadonlySet<string>
  /** What the chosen one comes from and what comes from it; null: nothing is chosen. */
  readonly lit: ReadonlySet<string> | null
  readonly paths: ColumnPaths | null
  readonly folds: ReadonlyMap<string, Fold>
  readonly hidden: ReadonlyMap<string, number>
  /** null: as much as there is room for, however small that is. */
  readonly scale: number | null
}

/** One stop for the Tab key, in which arrows lead from node to node. The same links are in the list below it. */
export function LineagePicture(props: LineagePictureProps) {
  const { layout, lit, paths, scale } = props
  const { left, width, height, nodes, edges } = layout
  const { picture, onClick } = useFocusKept(layout)
  const stop =
    props.chosen !== null && nodes.has(props.chosen.id) ? props.chosen.id : firstOf(nodes)
  const isLit = (id: string) => lit === null || lit.has(id)
  const classOf = (from: string, to: string) => {
    if (lit === null) return 'edge'
    return isLit(from) && isLit(to) && paths === null ? 'edge lit' : 'edge dim'
  }
  return (
    <svg
      ref={picture}
      class={scale === null ? 'lineage-picture fits' : 'lineage-picture'}
      role="group"
      aria-label="Arrow keys move from model to model"
      onClick={onClick}
      onKeyDown={moveByKey}
      viewBox={`${left} 0 ${width} ${height}`}
      style={{ width: `${width * (scale ?? 1)}px`, maxWidth: mostWidth(width, scale) }}
    >
      {edges.map(({ from, to, points }) => (
        <path key={`${from} ${to}`} class={classOf(from, to)} d={pathThrough(points)} />
      ))}
      {paths?.edges.map(({ from, to }) => {
        const [a, b] = [nodes.get(from.node), nodes.get(to.node)]
        if (a === undefined || b === undefined) return null
        const key = `${from.node} ${from.column} ${to.node} ${to.column}`
        return <path key={key} class="edge column" d={columnLine(a, from.column, b, to.column)} />
      })}
      {[...nodes.values()].map((placed) => (
        <Node
          key={placed.node.id}
          {...props}
          placed={placed}
          isLit={isLit(placed.node.id)}
          isStop={placed.node.id === stop}
        />
      ))}
    </svg>
  )
}

/** Who opens a node by keyboard goes on from it, also where what had the focus is no longer drawn. */
function useFocusKept(layout: GraphLayout) {
  const picture = useRef<SVGSVGElement>(null)
  const goesOn = useRef(false)
  useEffect(() => {
    const svg = picture.current!
    if (goesOn.current && !svg.contains(document.activeElement))
      svg.querySelector<SVGAElement>('.node.chosen a')?.focus({ preventScroll: true })
    goesOn.current = false
  }, [layout])
  const onClick = ({ detail }: MouseEvent) => {
    goesOn.current = detail === 0
  }
  return { picture, onClick }
}

const firstOf = (nodes: GraphLayout['nodes']) => nodes.keys().next().value

const LEAST_FIT = 0.84

/** A little is given for not having to scroll: the smallest text stays above 10 pixels. */
function mostWidth(width: number, scale: number | null): string {
  if (scale === null) return '100%'
  return scale === 1 ? `max(100%, ${width * LEAST_FIT}px)` : 'none'
}

interface NodeProps extends LineagePictureProps {
  readonly placed: PlacedNode
  readonly isLit: boolean
  /** The Tab key comes to it. */
  readonly isStop: boolean
}

function Node({ placed, isLit, isStop, chosen, column, opened, folds, hidden }: NodeProps) {
  const page = usePage()
  const { node, x, y, width, height, columns } = placed
  const fold = folds.get(node.id)
  const { isFailed, isWarned } = resultOf(page, node, fold)
  const sign = isFailed ? '✕' : isWarned ? '⚠' : null
  const isChosen = chosen?.id === node.id
  const change = changeOf(page, node)
  const classes = [
    'node',
    `kind-${node.kind}`,
    isChosen && 'chosen',
    !isLit && 'dim',
    isFailed && 'failed',
    change !== undefined && `change-${change}`,
  ]
  const more = hidden.get(node.id)
  const opens = (id: string) => lineageRoute(chosen ?? node, column, new Set([...opened, id]))
  const facts = fold === undefined ? factsOf(page, node) : 'show all'
  return (
    <g class={classes.filter(Boolean).join(' ')} transform={`translate(${x} ${y})`}>
      <Link
        to={fold === undefined ? lineageRoute(node, null, opened) : opens(fold.of)}
        tabindex={isStop ? 0 : -1}
        current={isChosen}
      >
        <rect class="node-box" width={width} height={height} rx={node.kind === 'set' ? 14 : 6} />
        {node.kind !== 'set' && <rect class="node-kind" width={5} height={height} rx={2} />}
        <text class="node-name" x={15} y={18}>
          {`${cut(node.name, charactersIn(width))} `}
        </text>
        <text class="node-facts" x={15} y={33}>
          {`${cut(facts, Math.floor((width - BESIDE) / FACTS_CHARACTER) + 2)} `}
        </text>
        {sign !== null && (
          <text class={sign === '✕' ? 'node-failed' : 'node-warned'} x={width - 18} y={18}>
            {sign}
          </text>
        )}
        <title>{isFailed ? `${node.name} failed` : node.name}</title>
      </Link>
      {columns.map((name, i) => (
        <Link key={name} to={lineageRoute(node, name, opened)} tabindex={-1}>
          <text
            class={isChosen && name === column ? 'node-column chosen' : 'node-column'}
            x={15}
            y={HEAD + i * COLUMN + 13}
          >
            {cut(name, charactersIn(width) + 1)}
          </text>
        </Link>
      ))}
      {more !== undefined && (
        <Link to={opens(node.id)} tabindex={-1}>
          <circle class="node-more" cx={width} cy={HEAD / 2} r={10} />
          <text class="node-more-text" x={width} y={HEAD / 2} dy="0.35em">
            +{more > 9 ? '' : more}
          </text>
          <title>{`${more} more that are not shown`}</title>
        </Link>
      )}
    </g>
  )
}

/** Of a fold that of the worst of them. */
function resultOf(page: Page, node: LineageNode, fold: Fold | undefined) {
  const own = node.model !== null && node.kind !== 'set' ? [node.model.name] : []
  const states = (fold?.ids ?? own).map((name) => page.catalog?.states[name])
  return {
    isFailed: states.some((state) => state?.status === 'failed'),
    isWarned: states.some((state) => (state?.warned ?? 0) > 0),
  }
}

const changeOf = ({ changes }: Page, { id, kind }: LineageNode) =>
  kind === 'set' ? undefined : changes?.models[id]?.is

/** Kind and rows, as far as they are known, and what a branch makes of it. */
export function factsOf(page: Page, node: LineageNode): string {
  const { catalog } = page
  const { model, kind } = node
  const published = catalog?.sets.find(({ name }) => name === model?.set)
  // A build of the other kinds says how many rows it wrote, not how many there are.
  const isWhole = kind === 'table' || kind === 'seed'
  const built = isWhole ? catalog?.states[model?.name ?? '']?.builds[0]?.rows : undefined
  const rows = published?.rows ?? built
  const change = changeOf(page, node)
  return [
    ...(change === undefined ? [] : [`${CHANGE_SIGNS[change]} ${change}`]),
    kind === 'unknown' ? 'model' : kind,
    ...(rows === undefined || rows === null ? [] : [`${groupDigits(rows)} rows`]),
  ].join(' · ')
}

function cut(text: string, characters: number): string {
  return text.length > characters ? `${text.slice(0, characters - 1)}…` : text
}

/** Before a name; colour is never the only sign. */
export const CHANGE_SIGNS: Readonly<Record<ModelChange['is'], string>> = {
  added: '+',
  removed: '−',
  changed: '~',
  affected: '›',
}

// Where the nodes of the graph are drawn. The library that lays them out is loaded when a graph is first shown.

interface Point {
  readonly x: number
  readonly y: number
}

interface PlacedNode {
  readonly node: LineageNode
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly columns: readonly string[]
}

interface PlacedEdge {
  readonly from: string
  readonly to: string
  readonly points: readonly Point[]
}

export interface GraphLayout {
  readonly left: number
  readonly width: number
  readonly height: number
  readonly nodes: ReadonlyMap<string, PlacedNode>
  readonly edges: readonly PlacedEdge[]
}

const HEAD = 42
const COLUMN = 19
const CHARACTER = 8
const FACTS_CHARACTER = 6.5
const BESIDE = 34
const LEAST_WIDTH = 90
const MARGIN = 8

/** How wide nodes may be, and how far their layers are from each other. */
interface Spacing {
  readonly most: number
  readonly ranksep: number
}

/** In the narrower ones long names are cut, which the panel has whole. */
const WIDE: Spacing = { most: 250, ranksep: 48 }
const NARROW: Spacing = { most: 168, ranksep: 24 }
const NARROWEST: Spacing = { most: 132, ranksep: 16 }

/** As wide as fits into `room`, in pixels; what fits in no way stays legible. */
export async function layoutOf(
  graph: LineageGraph,
  paths: ColumnPaths | null,
  factsOf: (node: LineageNode) => string,
  room: number,
): Promise<GraphLayout> {
  for (const spacing of [WIDE, NARROW, NARROWEST]) {
    const made = await layoutBy(spacing, graph, paths, factsOf)
    if (made.width * LEAST_FIT <= room) return made
  }
  return layoutBy(NARROW, graph, paths, factsOf)
}

async function layoutBy(
  { most, ranksep }: Spacing,
  graph: LineageGraph,
  paths: ColumnPaths | null,
  factsOf: (node: LineageNode) => string,
): Promise<GraphLayout> {
  const { Graph, layout } = await import('@dagrejs/dagre')
  const drawing = new Graph()
  drawing.setGraph({ rankdir: 'LR', nodesep: 14, ranksep, marginx: MARGIN, marginy: MARGIN })
  drawing.setDefaultEdgeLabel(() => ({}))
  const columnsOf = (id: string) => paths?.columns.get(id) ?? []
  for (const [id, node] of graph.nodes) {
    const columns = columnsOf(id)
    drawing.setNode(id, {
      width: Math.min(most, widthOf(node, columns, factsOf(node))),
      height: HEAD + (columns.length === 0 ? 0 : columns.length * COLUMN + 6),
    })
  }
  const edges = [...graph.reads].flatMap(([to, origins]) => origins.map((from) => ({ from, to })))
  for (const { from, to } of edges) drawing.setEdge(from, to)
  alignEnds(drawing, graph)
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
  drawing: Pick<Graph, 'setNode' | 'setEdge'>,
  { nodes, reads }: LineageGraph,
): void {
  const none = { width: 0, height: 0 }
  drawing.setNode(FIRST, none)
  drawing.setNode(LAST, none)
  for (const [id, { kind }] of nodes) {
    if (reads.get(id)!.length === 0) drawing.setEdge(FIRST, id, { weight: ALIGNING })
    if (kind === 'set') drawing.setEdge(id, LAST, { weight: ALIGNING })
  }
}

function widthOf({ name }: LineageNode, columns: readonly string[], facts: string): number {
  const longest = Math.max(name.length, ...columns.map((column) => column.length))
  const width = Math.max(longest * CHARACTER + BESIDE, facts.length * FACTS_CHARACTER + BESIDE)
  return Math.max(LEAST_WIDTH, width)
}

const charactersIn = (width: number) => Math.floor((width - BESIDE) / CHARACTER) + 1

function pathThrough(points: readonly Point[]): string {
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

function columnLine(from: PlacedNode, a: string, to: PlacedNode, b: string): string {
  const at = (node: PlacedNode, column: string) =>
    node.y + HEAD + (node.columns.indexOf(column) + 0.5) * COLUMN
  return pathThrough([
    { x: from.x + from.width, y: at(from, a) },
    { x: to.x, y: at(to, b) },
  ])
}

const place = ({ x, y }: Point) => `${x.toFixed(1)},${y.toFixed(1)}`
