// The ways of one column through the graph: back to the fields of events, seeds and sources that its values come from,
// and on to the properties of entity sets that are made from it.

import type { ColumnOf, LineageColumn, LineageGraph } from './graph.ts'

export interface ColumnEdge {
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
  const found = new Map<string, ColumnOf>()
  walk(start, (at) => {
    found.set(keyOf(at), at)
    const column = columnOf(graph, at)
    if (column !== undefined && column.from === null) unknown.push(at)
    const before = (column?.from ?? []).flatMap((origin) => named(graph, origin))
    edges.push(...before.map((from) => ({ from, to: at })))
    return before
  })
  walk(start, (at) => {
    found.set(keyOf(at), at)
    const after = forward.get(keyOf(at)) ?? []
    edges.push(...after.map((to) => ({ from: at, to })))
    return after
  })
  const columns = new Map<string, readonly string[]>()
  for (const [id, node] of graph.nodes) {
    const names = node.columns.map(({ name }) => name)
    const on = names.filter((column) => found.has(keyOf({ node: id, column })))
    if (on.length > 0) columns.set(id, on)
  }
  return { columns, edges, unknown }
}

function walk(start: ColumnOf, next: (at: ColumnOf) => readonly ColumnOf[]): void {
  const seen = new Set([keyOf(start)])
  const open = [start]
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const one of next(at)) {
      if (seen.has(keyOf(one))) continue
      seen.add(keyOf(one))
      open.push(one)
    }
}

/** A column as its node spells it. */
function named(graph: LineageGraph, { node, column }: ColumnOf): readonly ColumnOf[] {
  const found = columnOf(graph, { node, column })
  return found === undefined ? [] : [{ node, column: found.name }]
}

function columnOf(graph: LineageGraph, { node, column }: ColumnOf): LineageColumn | undefined {
  const wanted = column.toLowerCase()
  return graph.nodes.get(node)?.columns.find(({ name }) => name.toLowerCase() === wanted)
}

const keyOf = ({ node, column }: ColumnOf) => `${node}\0${column.toLowerCase()}`
