import type { CatalogState } from '../../../core/catalog.ts'
import { groupDigits } from '../model/show.ts'
import { type Page, usePage } from '../page.ts'
import { Link } from '../parts/link.tsx'
import { type ColumnPaths, type LineageNode, lineageRoute } from './graph.ts'
import {
  charactersIn,
  COLUMN,
  columnLine,
  type GraphLayout,
  HEAD,
  pathThrough,
  type PlacedNode,
} from './layout.ts'
import type { ModelChange } from '../../../core/docs-data.ts'

interface LineagePictureProps {
  readonly layout: GraphLayout
  readonly chosen: LineageNode | null
  readonly column: string | null
  readonly opened: ReadonlySet<string>
  /** What the chosen one comes from and what comes from it; null: nothing is chosen. */
  readonly lit: ReadonlySet<string> | null
  readonly paths: ColumnPaths | null
  readonly hidden: ReadonlyMap<string, number>
  /** null: as much as there is room for, however small that is. */
  readonly scale: number | null
}

/** Drawn for eyes and pointers: the same links are in the list below it, for keyboards and readers of screens. */
export function LineagePicture(props: LineagePictureProps) {
  const { layout, lit, paths, scale } = props
  const { left, width, height, nodes, edges } = layout
  const isLit = (id: string) => lit === null || lit.has(id)
  const classOf = (from: string, to: string) => {
    if (lit === null) return 'edge'
    return isLit(from) && isLit(to) && paths === null ? 'edge lit' : 'edge dim'
  }
  return (
    <svg
      class="lineage-picture"
      aria-hidden="true"
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
        <Node key={placed.node.id} {...props} placed={placed} isLit={isLit(placed.node.id)} />
      ))}
    </svg>
  )
}

/** A little is given for not having to scroll: the smallest text stays above 11 pixels. */
function mostWidth(width: number, scale: number | null): string {
  if (scale === null) return '100%'
  return scale === 1 ? `max(100%, ${width * 0.93}px)` : 'none'
}

interface NodeProps extends LineagePictureProps {
  readonly placed: PlacedNode
  readonly isLit: boolean
}

function Node({ placed, isLit, chosen, column, opened, hidden }: NodeProps) {
  const page = usePage()
  const { node, x, y, width, height, columns } = placed
  const state = stateOf(page, node)
  const isChosen = chosen?.id === node.id
  const change = changeOf(page, node)
  const classes = [
    'node',
    `kind-${node.kind}`,
    isChosen && 'chosen',
    !isLit && 'dim',
    state?.status === 'failed' && 'failed',
    change !== undefined && `change-${change}`,
  ]
  const more = hidden.get(node.id)
  return (
    <g class={classes.filter(Boolean).join(' ')} transform={`translate(${x} ${y})`}>
      <Link to={lineageRoute(node, null, opened)} tabindex={-1}>
        <rect class="node-box" width={width} height={height} rx={node.kind === 'set' ? 14 : 6} />
        {node.kind !== 'set' && <rect class="node-kind" width={5} height={height} rx={2} />}
        <text class="node-name" x={15} y={18}>
          {cut(node.name, charactersIn(width))}
        </text>
        <text class="node-facts" x={15} y={33}>
          {factsOf(page, node)}
        </text>
        <State state={state} at={width} />
        <title>{node.name}</title>
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
        <Link
          to={lineageRoute(chosen ?? node, column, new Set([...opened, node.id]))}
          tabindex={-1}
        >
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

function State({ state, at }: { state: CatalogState | undefined; at: number }) {
  const sign = state?.status === 'failed' ? '✕' : (state?.warned ?? 0) > 0 ? '⚠' : null
  if (sign === null) return null
  return (
    <text class={sign === '✕' ? 'node-failed' : 'node-warned'} x={at - 18} y={18}>
      {sign}
    </text>
  )
}

function stateOf({ catalog }: Page, { model, kind }: LineageNode): CatalogState | undefined {
  return model === null || kind === 'set' ? undefined : catalog?.states[model.name]
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
    kind,
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
