// What /lineage shows, as it stands in its address: ?model=core.orders&column=status, or ?set=core_orders.

import { readOptions, withOptions, writeOptions } from '../address/options.ts'
import { type LineageGraph, type LineageNode, setId } from './graph.ts'

interface LineageAddress {
  readonly chosen: LineageNode | null
  readonly column: string | null
  /** Nodes of a large graph whose neighbours are shown too. */
  readonly opened: ReadonlySet<string>
}

export function readLineageAddress(query: string, { nodes }: LineageGraph): LineageAddress {
  const options = readOptions(query)
  const set = options.get('set')
  const id = set === undefined ? options.get('model') : setId(set)
  const chosen = id === undefined ? undefined : nodes.get(id)
  const column = options.get('column')
  const known = chosen?.columns.find(({ name }) => name === column)
  const opened = (options.get('open') ?? '').split(',').filter((one) => nodes.has(one))
  return { chosen: chosen ?? null, column: known?.name ?? null, opened: new Set(opened) }
}

/** The query of the address that shows a node, or one of its columns. */
export function lineageQuery(
  node: LineageNode,
  column: string | null = null,
  opened: ReadonlySet<string> = new Set(),
): string {
  return writeOptions(
    withOptions(new Map(), {
      set: node.kind === 'set' ? node.name : undefined,
      model: node.kind === 'set' ? undefined : node.id,
      column: column ?? undefined,
      open: [...opened].join(',') || undefined,
    }),
  )
}
