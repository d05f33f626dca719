// The part of a graph that is shown: all of a small one; of a large one what is around the chosen node. Where many read
// the same, or one reads many, these are one node that says how many they are.

import type { LineageGraph, LineageNode } from './graph.ts'

/** Above that a picture of all of it cannot be read. */
export const MOST_NODES = 60
/** How far around the chosen node a large graph begins. */
const FIRST_STEPS = 2
/** More neighbours than that are one node. */
export const MOST_SIBLINGS = 8

type Side = 'reads' | 'readBy'

export interface Fold {
  /** The node whose neighbours they are. */
  readonly of: string
  readonly side: Side
  readonly ids: readonly string[]
}

interface ShownPart {
  readonly ids: ReadonlySet<string>
  readonly folds: ReadonlyMap<string, Fold>
  /** How many neighbours of a node are neither shown nor folded. */
  readonly hidden: ReadonlyMap<string, number>
}

/** `opened`: nodes of which all neighbours are shown; `kept`: what is shown in any case. */
export function shownPart(
  graph: LineageGraph,
  chosen: string | null,
  opened: ReadonlySet<string>,
  kept: Iterable<string> = [],
): ShownPart {
  const { nodes } = graph
  if (nodes.size <= MOST_NODES)
    return { ids: new Set(nodes.keys()), folds: new Map(), hidden: new Map() }
  const start = chosen !== null && nodes.has(chosen) ? chosen : mostConnected(graph)
  const ids = new Set([start, ...kept])
  const folds = (['reads', 'readBy'] as const).flatMap((side) =>
    walk({ graph, side, start, opened, ids }),
  )
  for (const id of opened)
    if (nodes.has(id)) for (const one of [id, ...neighbours(graph, id)]) ids.add(one)
  const left = folds
    .map((fold) => ({ ...fold, ids: fold.ids.filter((id) => !ids.has(id)) }))
    .filter((fold) => fold.ids.length > 0)
  return {
    ids,
    folds: new Map(left.map((fold) => [`${fold.side} ${fold.of}`, fold])),
    hidden: hiddenBeside(graph, ids, left),
  }
}

interface Walk {
  readonly graph: LineageGraph
  readonly side: Side
  readonly start: string
  readonly opened: ReadonlySet<string>
  /** Grows by what is found. */
  readonly ids: Set<string>
}

function walk({ graph, side, start, opened, ids }: Walk): readonly Fold[] {
  const folds: Fold[] = []
  const folded = new Set<string>()
  let border = [start]
  for (let step = 0; step < FIRST_STEPS; step += 1) {
    const next: string[] = []
    for (const of of border) {
      const found = graph[side].get(of)!.filter((id) => !ids.has(id) && !folded.has(id))
      // The set of a model is not one of many that read it, it is what clients see of it.
      const sets = found.filter((id) => graph.nodes.get(id)!.kind === 'set')
      const others = found.filter((id) => !sets.includes(id))
      const isFolded = others.length > MOST_SIBLINGS && !opened.has(of)
      if (isFolded) folds.push({ of, side, ids: others })
      for (const id of others) if (isFolded) folded.add(id)
      for (const id of isFolded ? sets : found) ids.add(id)
      next.push(...(isFolded ? sets : found))
    }
    border = next
  }
  return folds
}

function hiddenBeside(
  graph: LineageGraph,
  ids: ReadonlySet<string>,
  folds: readonly Fold[],
): ReadonlyMap<string, number> {
  const hidden = new Map<string, number>()
  for (const id of ids) {
    const own = new Set(folds.flatMap((fold) => (fold.of === id ? fold.ids : [])))
    const count = neighbours(graph, id).filter((one) => !ids.has(one) && !own.has(one)).length
    if (count > 0) hidden.set(id, count)
  }
  return hidden
}

const neighbours = ({ reads, readBy }: LineageGraph, id: string): readonly string[] => [
  ...(reads.get(id) ?? []),
  ...(readBy.get(id) ?? []),
]

function mostConnected(graph: LineageGraph): string {
  const degree = (id: string) => neighbours(graph, id).length
  return [...graph.nodes.keys()].reduce((best, id) => (degree(id) > degree(best) ? id : best))
}

/** The graph of what is shown, in which a fold is a node like others. */
export function drawnGraph(graph: LineageGraph, { ids, folds }: ShownPart): LineageGraph {
  const nodes = new Map([...graph.nodes].filter(([id]) => ids.has(id)))
  const within = (edges: LineageGraph['reads']) =>
    new Map(Array.from(nodes.keys(), (id) => [id, edges.get(id)!.filter((one) => ids.has(one))]))
  const reads = within(graph.reads)
  const readBy = within(graph.readBy)
  for (const [id, fold] of folds) {
    const name = nameOf(fold, graph)
    nodes.set(id, { id, name, kind: 'fold', model: null, columns: [] })
    reads.set(id, fold.side === 'readBy' ? [fold.of] : [])
    readBy.set(id, fold.side === 'reads' ? [fold.of] : [])
    const edges = fold.side === 'readBy' ? readBy : reads
    edges.get(fold.of)!.push(id)
  }
  return { nodes, reads, readBy }
}

function nameOf({ ids, side }: Fold, { nodes }: LineageGraph): string {
  const kinds = new Set(ids.map((id) => nodes.get(id)!.kind))
  const [only] = kinds
  const kind = kinds.size === 1 ? NAMES[only!] : undefined
  return `${ids.length} ${kind ?? 'models'} ${side === 'readBy' ? 'read this' : 'are read'}`
}

const NAMES: Readonly<Partial<Record<LineageNode['kind'], string>>> = {
  source: 'sources',
  table: 'tables',
  view: 'views',
  seed: 'seeds',
}
