// Finds nodes of the graph by what somebody types: names first, then names of columns.

import type { LineageGraph, LineageNode } from './graph.ts'

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
