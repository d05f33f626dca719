// The models of a catalog as a graph: sources and events at one end, entity sets at the other, an edge for each that is
// read. Names are compared as the engine does, without regard to case.

import type { Catalog, CatalogModel } from '../../../core/catalog.ts'

export type NodeKind = NonNullable<CatalogModel['kind']> | 'source' | 'set' | 'unknown'

export interface LineageNode {
  /** In addresses and as the key of the graph. */
  readonly id: string
  /** As it is shown. */
  readonly name: string
  readonly kind: NodeKind
  /** Of the model itself, or of that behind a set. */
  readonly model: CatalogModel | null
  readonly columns: readonly LineageColumn[]
}

export interface LineageColumn {
  readonly name: string
  readonly type: string
  readonly description: string | undefined
  /** null: not known. */
  readonly from: readonly ColumnOf[] | null
}

export interface ColumnOf {
  readonly node: string
  readonly column: string
}

export interface LineageGraph {
  /** In an order in which each comes after all that it reads. */
  readonly nodes: ReadonlyMap<string, LineageNode>
  readonly reads: ReadonlyMap<string, readonly string[]>
  readonly readBy: ReadonlyMap<string, readonly string[]>
}

/** Above that a picture of all of it cannot be read. */
export const MOST_NODES = 60
/** How far around the chosen node a large graph begins. */
const FIRST_STEPS = 2

export const setId = (set: string) => `set ${set}`

export function lineageGraph(catalog: Pick<Catalog, 'models' | 'sources'>): LineageGraph {
  const nodes = new Map<string, LineageNode>()
  const reads = new Map<string, string[]>()
  const columnsOf = (columns: CatalogModel['columns']): readonly LineageColumn[] =>
    columns.map(({ name, type, description, lineage }) => ({
      name,
      type,
      description,
      from: lineage?.map(({ model, column }) => ({ node: model, column })) ?? null,
    }))
  for (const { name, columns } of catalog.sources) {
    const own = columns.map((column) => ({ ...column, lineage: [] }))
    nodes.set(name, { id: name, name, kind: 'source', model: null, columns: columnsOf(own) })
  }
  for (const model of catalog.models) {
    const { name, kind, columns } = model
    nodes.set(name, {
      id: name,
      name,
      kind: kind ?? 'unknown',
      model,
      columns: columnsOf(columns),
    })
    reads.set(name, [...model.sources, ...model.depends_on])
  }
  for (const model of catalog.models) {
    if (model.set === null) continue
    const id = setId(model.set)
    const columns = columnsOf(model.columns).map((column) => ({
      ...column,
      from: [{ node: model.name, column: column.name }],
    }))
    nodes.set(id, { id, name: model.set, kind: 'set', model, columns })
    reads.set(id, [model.name])
  }
  return { nodes, ...edgesOf(nodes, reads) }
}

/** What a service shows may leave out models that others read. */
function edgesOf(
  nodes: ReadonlyMap<string, LineageNode>,
  named: ReadonlyMap<string, readonly string[]>,
): Pick<LineageGraph, 'reads' | 'readBy'> {
  const reads = new Map<string, string[]>()
  const readBy = new Map<string, string[]>()
  for (const id of nodes.keys()) {
    reads.set(id, [])
    readBy.set(id, [])
  }
  for (const [reader, names] of named)
    for (const name of new Set(names)) {
      if (!nodes.has(name)) continue
      reads.get(reader)!.push(name)
      readBy.get(name)!.push(reader)
    }
  return { reads, readBy }
}

/** All that can be reached from a node along edges, and the node itself. */
export function reachable(
  edges: ReadonlyMap<string, readonly string[]>,
  start: string,
  steps = Infinity,
): ReadonlySet<string> {
  const found = new Set([start])
  let border = [start]
  for (let step = 0; step < steps && border.length > 0; step += 1) {
    border = border.flatMap((id) => (edges.get(id) ?? []).filter((next) => !found.has(next)))
    for (const id of border) found.add(id)
    border = [...new Set(border)]
  }
  return found
}

/** What a chosen node comes from, and what comes from it. */
export function related(graph: LineageGraph, id: string): ReadonlySet<string> {
  return new Set([...reachable(graph.reads, id), ...reachable(graph.readBy, id)])
}

export interface Shown {
  readonly ids: ReadonlySet<string>
  /** Neighbours of shown nodes that are not shown. */
  readonly hidden: ReadonlyMap<string, number>
}

/** All of a small graph; of a large one what is around the chosen node, and around those that were opened. */
export function shownNodes(
  graph: LineageGraph,
  chosen: string | null,
  opened: ReadonlySet<string>,
): Shown {
  const { nodes, reads, readBy } = graph
  const neighbours = (id: string) => [...(reads.get(id) ?? []), ...(readBy.get(id) ?? [])]
  if (nodes.size <= MOST_NODES) return { ids: new Set(nodes.keys()), hidden: new Map() }
  const start = chosen !== null && nodes.has(chosen) ? chosen : mostConnected(graph)
  const ids = new Set([
    ...reachable(reads, start, FIRST_STEPS),
    ...reachable(readBy, start, FIRST_STEPS),
  ])
  for (const id of opened)
    if (nodes.has(id)) for (const one of [id, ...neighbours(id)]) ids.add(one)
  const hidden = new Map<string, number>()
  for (const id of ids) {
    const count = neighbours(id).filter((one) => !ids.has(one)).length
    if (count > 0) hidden.set(id, count)
  }
  return { ids, hidden }
}

function mostConnected({ nodes, reads, readBy }: LineageGraph): string {
  const degree = (id: string) => reads.get(id)!.length + readBy.get(id)!.length
  return [...nodes.keys()].reduce((best, id) => (degree(id) > degree(best) ? id : best))
}
