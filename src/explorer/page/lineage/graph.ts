// The models of a catalog as a graph: sources and events at one end, entity sets at the other, an edge for each that is
// read. Names are compared as the engine does, without regard to case.
//
// The ways of one column lead back to the fields of events, seeds and sources that its values come from, and on to the
// properties of entity sets that are made from it.

import type { Route } from '../address/route.ts'
import type { Catalog, CatalogModel, CatalogSet } from '../../../core/catalog.ts'
import { readOptions, withOptions, writeOptions } from '../address/options.ts'

type NodeKind = NonNullable<CatalogModel['kind']> | 'source' | 'set' | 'fold' | 'unknown'

export interface LineageNode {
  /** In addresses and as the key of the graph. */
  readonly id: string
  readonly name: string
  readonly kind: NodeKind
  /** The model itself, or the one whose rows a set has. */
  readonly model: CatalogModel | null
  readonly columns: readonly LineageColumn[]
}

interface LineageColumn {
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

export const setId = (set: string) => `set ${set}`

export function lineageGraph(catalog: Pick<Catalog, 'models' | 'sources'>): LineageGraph {
  const nodes = new Map<string, LineageNode>()
  const reads = new Map<string, string[]>()
  const add = (node: LineageNode, of: string[]) => {
    nodes.set(node.id, node)
    reads.set(node.id, of)
  }
  const columnsOf = (columns: CatalogModel['columns'], from?: string): readonly LineageColumn[] =>
    columns.map(({ name, type, description, lineage }) => ({
      name,
      type,
      description,
      from:
        from === undefined
          ? (lineage?.map(({ model, column }) => ({ node: model, column })) ?? null)
          : [{ node: from, column: name }],
    }))
  for (const { name, columns } of catalog.sources) {
    const own = columns.map((column) => ({ ...column, lineage: [] }))
    add({ id: name, name, kind: 'source', model: null, columns: columnsOf(own) }, [])
  }
  for (const model of catalog.models) {
    const { name, kind } = model
    const columns = columnsOf(model.columns)
    const all = [...model.sources, ...model.depends_on]
    add({ id: name, name, kind: kind ?? 'unknown', model, columns }, all)
  }
  for (const model of catalog.models) {
    if (model.set === null) continue
    const columns = columnsOf(model.columns, model.name)
    add({ id: setId(model.set), name: model.set, kind: 'set', model, columns }, [model.name])
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

function reachable(
  edges: ReadonlyMap<string, readonly string[]>,
  start: string,
): ReadonlySet<string> {
  const found = new Set([start])
  let border = [start]
  while (border.length > 0) {
    border = border.flatMap((id) => (edges.get(id) ?? []).filter((next) => !found.has(next)))
    for (const id of border) found.add(id)
    border = [...new Set(border)]
  }
  return found
}

/** All that comes from it, by way of others too, in the order of the graph; of a set the set itself. */
export function downstream({ nodes, readBy }: LineageGraph, id: string): readonly LineageNode[] {
  const found = reachable(readBy, id)
  return [...nodes.values()].filter(
    (node) => found.has(node.id) && (node.id !== id || node.kind === 'set'),
  )
}

export function related(graph: LineageGraph, id: string): ReadonlySet<string> {
  return new Set([...reachable(graph.reads, id), ...reachable(graph.readBy, id)])
}

interface ColumnEdge {
  readonly from: ColumnOf
  readonly to: ColumnOf
}

export interface ColumnPaths {
  /** The columns that are on a way, by node, in the order of the node. */
  readonly columns: ReadonlyMap<string, readonly string[]>
  readonly edges: readonly ColumnEdge[]
  /** Where a way ends because it is not known how it goes on. */
  readonly unknown: readonly ColumnOf[]
}

export function columnPaths(graph: LineageGraph, start: ColumnOf): ColumnPaths {
  const forward = new Map<string, ColumnOf[]>()
  for (const [node, { columns }] of graph.nodes)
    for (const column of columns)
      for (const origin of column.from ?? []) {
        const key = keyOf(origin)
        forward.set(key, [...(forward.get(key) ?? []), { node, column: column.name }])
      }
  const edges: ColumnEdge[] = []
  const unknown: ColumnOf[] = []
  const found = new Set<string>()
  const walk = (
    next: (at: ColumnOf) => readonly ColumnOf[],
    edge: (at: ColumnOf, next: ColumnOf) => ColumnEdge,
  ) => {
    const seen = new Set([keyOf(start)])
    const open = [start]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      found.add(keyOf(at))
      for (const one of next(at)) {
        edges.push(edge(at, one))
        if (!seen.has(keyOf(one))) open.push(one)
        seen.add(keyOf(one))
      }
    }
  }
  const before = (at: ColumnOf) => {
    const column = columnOf(graph, at)
    if (column?.from === null) unknown.push(at)
    return (column?.from ?? []).flatMap((origin) => named(graph, origin))
  }
  walk(before, (to, from) => ({ from, to }))
  walk(
    (at) => forward.get(keyOf(at)) ?? [],
    (from, to) => ({ from, to }),
  )
  const columns = new Map<string, readonly string[]>()
  for (const [id, node] of graph.nodes) {
    const names = node.columns.map(({ name }) => name)
    const on = names.filter((column) => found.has(keyOf({ node: id, column })))
    if (on.length > 0) columns.set(id, on)
  }
  return { columns, edges, unknown }
}

interface MeasureOf {
  /** That of its model. */
  readonly node: LineageNode
  readonly name: string
}

/** Measures that read a column, or one that is made of it. For strangers, only sets say what they mean. */
export function measuresOn(
  { nodes }: LineageGraph,
  { edges }: ColumnPaths,
  start: ColumnOf,
  sets: readonly Pick<CatalogSet, 'name' | 'meaning'>[],
): readonly MeasureOf[] {
  const next = new Map<string, string[]>()
  for (const { from, to } of edges)
    next.set(keyOf(from), [...(next.get(keyOf(from)) ?? []), keyOf(to)])
  const after = reachable(next, keyOf(start))
  const meaningOf = new Map(sets.map(({ name, meaning }) => [name, meaning]))
  return [...nodes.values()]
    .filter(({ kind }) => kind !== 'set')
    .flatMap((node) =>
      ((node.model?.meaning ?? meaningOf.get(node.model?.set ?? ''))?.measures ?? [])
        .filter(({ columns }) =>
          columns.some((column) => after.has(keyOf({ node: node.id, column }))),
        )
        .map(({ name, label }) => ({ node, name: label ?? name })),
    )
}

function named(graph: LineageGraph, { node, column }: ColumnOf): readonly ColumnOf[] {
  const found = columnOf(graph, { node, column })
  return found === undefined ? [] : [{ node, column: found.name }]
}

function columnOf(graph: LineageGraph, { node, column }: ColumnOf): LineageColumn | undefined {
  const wanted = column.toLowerCase()
  return graph.nodes.get(node)?.columns.find(({ name }) => name.toLowerCase() === wanted)
}

const keyOf = ({ node, column }: ColumnOf) => `${node}\0${column.toLowerCase()}`

/** By what somebody types: names first, then names of columns. */
export function findNodes({ nodes }: LineageGraph, text: string): readonly LineageNode[] {
  const sought = text.trim().toLowerCase()
  if (sought === '') return []
  return [...nodes.values()]
    .map((node) => ({ node, rank: rankOf(node, sought) }))
    .filter(({ rank }) => rank < NOT_FOUND)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ node }) => node)
}

const NOT_FOUND = 4

function rankOf({ name, columns }: LineageNode, sought: string): number {
  const own = name.toLowerCase()
  if (own === sought) return 0
  if (own.startsWith(sought) || own.includes(`.${sought}`)) return 1
  if (own.includes(sought)) return 2
  return columns.some((column) => column.name.toLowerCase().includes(sought)) ? 3 : NOT_FOUND
}

// What /lineage shows, as it stands in its address: ?model=core.orders&column=status, or ?set=core_orders.

export function readLineageAddress(query: string, { nodes }: LineageGraph) {
  const options = readOptions(query)
  const set = options.get('set')
  const id = set === undefined ? options.get('model') : setId(set)
  const chosen = id === undefined ? undefined : nodes.get(id)
  const column = options.get('column')
  const known = chosen?.columns.find(({ name }) => name === column)
  const opened = (options.get('open') ?? '').split(',').filter((one) => nodes.has(one))
  return { chosen: chosen ?? null, column: known?.name ?? null, opened: new Set(opened) }
}

export function lineageRoute(
  node: LineageNode,
  column: string | null = null,
  opened: ReadonlySet<string> = new Set(),
): Route {
  const shown = {
    set: node.kind === 'set' ? node.name : undefined,
    model: node.kind === 'set' ? undefined : node.id,
    column: column ?? undefined,
    open: [...opened].join(','),
  }
  return { view: 'lineage', query: writeOptions(withOptions(new Map(), shown)) }
}
