import { Link } from '../parts/link.tsx'
import { lineageQuery } from './address.ts'
import type { LineageGraph, LineageNode } from './graph.ts'

interface LineageListProps {
  readonly graph: LineageGraph
  readonly chosen: LineageNode | null
}

const parts: readonly (readonly [string, (node: LineageNode) => boolean])[] = [
  ['Sources, events and seeds', ({ kind }) => ['source', 'events', 'seed'].includes(kind)],
  ['Models', ({ kind }) => !['source', 'events', 'seed', 'set'].includes(kind)],
  ['Sets', ({ kind }) => kind === 'set'],
]

/** All of the graph as nested links, in an order in which each comes after what it reads. */
export function LineageList({ graph, chosen }: LineageListProps) {
  const { nodes, reads } = graph
  return (
    <details class="lineage-list">
      <summary>As a list</summary>
      <ul>
        {parts.map(([title, isPart]) => {
          const own = [...nodes.values()].filter(isPart)
          if (own.length === 0) return null
          return (
            <li key={title}>
              {title}
              <ul>
                {own.map((node) => (
                  <li key={node.id}>
                    <NodeLink node={node} isCurrent={node.id === chosen?.id} />
                    <Reads nodes={(reads.get(node.id) ?? []).map((id) => nodes.get(id)!)} />
                  </li>
                ))}
              </ul>
            </li>
          )
        })}
      </ul>
    </details>
  )
}

function Reads({ nodes }: { nodes: readonly LineageNode[] }) {
  if (nodes.length === 0) return null
  return (
    <span class="lineage-reads">
      {' reads '}
      {nodes.map((node, i) => (
        <span key={node.id}>
          {i > 0 && ', '}
          <NodeLink node={node} />
        </span>
      ))}
    </span>
  )
}

interface NodeLinkProps {
  readonly node: LineageNode
  readonly column?: string | null
  readonly isCurrent?: boolean
}

export function NodeLink({ node, column = null, isCurrent = false }: NodeLinkProps) {
  const to = { view: 'lineage', query: lineageQuery(node, column) } as const
  return (
    <Link to={to} current={isCurrent}>
      <bdi>{column === null ? node.name : `${node.name}.${column}`}</bdi>
    </Link>
  )
}
