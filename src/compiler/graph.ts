// The graph of models: an order to build them in, and the cycles that leave some without one.

import type { ModelName } from '../core/names.ts'

/** A model with the models that it reads, all of them in the graph. */
export interface GraphNode {
  readonly name: ModelName
  readonly dependsOn: readonly ModelName[]
}

export function readersOf(nodes: Iterable<GraphNode>): (name: ModelName) => readonly ModelName[] {
  const readers = new Map<ModelName, ModelName[]>()
  for (const { name, dependsOn } of nodes)
    for (const input of dependsOn) {
      const known = readers.get(input)
      if (known === undefined) readers.set(input, [name])
      else known.push(name)
    }
  return (name) => readers.get(name) ?? []
}

/** What `next` leads to from these, directly or through others. */
export function reach(
  from: Iterable<ModelName>,
  next: (name: ModelName) => Iterable<ModelName>,
): Set<ModelName> {
  const reached = new Set<ModelName>()
  const open = [...from]
  for (let name = open.pop(); name !== undefined; name = open.pop())
    for (const other of next(name)) {
      if (reached.has(other)) continue
      reached.add(other)
      open.push(other)
    }
  return reached
}

interface Order<Node> {
  /** Each after all that it reads, by name among equals. Models on a cycle are left out. */
  readonly order: readonly Node[]
  /** Each reads the next, the last reads the first; the first is first by name. */
  readonly cycles: readonly (readonly ModelName[])[]
}

export function orderOf<Node extends GraphNode>(nodes: readonly Node[]): Order<Node> {
  const order: Node[] = []
  const cycles: (readonly ModelName[])[] = []
  let left = new Map(nodes.toSorted(byName).map((node) => [node.name, node]))
  while (left.size > 0) {
    for (const node of sources(left)) {
      order.push(node)
      left.delete(node.name)
    }
    if (left.size === 0) break
    const cycle = cycleIn(left)
    cycles.push(cycle)
    left = new Map([...left].filter(([name]) => !cycle.includes(name)))
  }
  return { order, cycles }
}

/** The nodes that wait for nothing but each other's turn, in order. */
function sources<Node extends GraphNode>(left: ReadonlyMap<ModelName, Node>): readonly Node[] {
  const waitsFor = new Map<ModelName, number>()
  const readers = new Map<ModelName, Node[]>()
  for (const node of left.values()) {
    const inputs = new Set(node.dependsOn.filter((name) => left.has(name)))
    waitsFor.set(node.name, inputs.size)
    for (const input of inputs) readers.set(input, [...(readers.get(input) ?? []), node])
  }
  const ready = [...left.values()].filter(({ name }) => waitsFor.get(name) === 0)
  const order: Node[] = []
  for (let node = ready.shift(); node !== undefined; node = ready.shift()) {
    order.push(node)
    for (const reader of readers.get(node.name) ?? []) {
      const waits = waitsFor.get(reader.name)! - 1
      waitsFor.set(reader.name, waits)
      if (waits === 0) insertByName(ready, reader)
    }
  }
  return order
}

/** Every node that is left reads another one that is left, so going on from any of them meets one twice. */
function cycleIn(left: ReadonlyMap<ModelName, GraphNode>): readonly ModelName[] {
  const path: ModelName[] = []
  let name: ModelName | undefined = left.keys().next().value
  while (name !== undefined && !path.includes(name)) {
    path.push(name)
    name = left.get(name)?.dependsOn.find((input) => left.has(input))
  }
  const cycle = path.slice(path.indexOf(name!))
  const first = cycle.indexOf(cycle.toSorted()[0]!)
  return [...cycle.slice(first), ...cycle.slice(0, first)]
}

function insertByName<Node extends GraphNode>(sorted: Node[], node: Node): void {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (byName(sorted[middle]!, node) < 0) low = middle + 1
    else high = middle
  }
  sorted.splice(low, 0, node)
}

const byName = (a: GraphNode, b: GraphNode) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
