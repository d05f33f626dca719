// Where a node stands in the rows that are in the order of trees or are totals of nodes: in the place of what leads to it,
// and as the whole entity where that does (the three cases of Data Aggregation 4.0, section 6.2.2).

import { typeMismatch, unsupported } from '../../protocol/errors.ts'
import type { EntityType, NavigationProperty, Property } from '../../edm/model.ts'
import type { HierarchySyntax } from '../../syntax/syntax.ts'
import type { NodeRows } from '../bound.ts'
import type { NamedHierarchy } from '../expression/hierarchy.ts'
import { findNavigation, type Scope } from '../scope.ts'
import { firstMany } from './collection-path.ts'
import {
  type ApplyContext,
  type ApplyRows,
  entityRows,
  type NestedRows,
  pathKey,
  projectionOf,
  rowsOfValues,
  rowVariable,
} from './rows.ts'

export interface NodePlace {
  readonly path: readonly string[]
  /** What leads to the node; absent: it is known by its value alone. */
  readonly entity: NavigationProperty | undefined
  /** The set of the collection that the path begins with; absent: it leads to one node. */
  readonly collection?: NavigationProperty
}

/** `word`: the transformation. Throws RequestError 501. */
export function nodePlace(
  { path }: HierarchySyntax,
  rows: ApplyRows,
  { row, node }: NodeRows,
  { computed }: Scope,
  word: string,
): NodePlace {
  const { names } = path
  const { type } = rows.set
  if (names[0]!.startsWith('$') || names.some((name) => name.includes('.')))
    throw unsupported(`$it or a type cast in ${word}`)
  const key = pathKey(names)
  const known = rows.values.find((value) => pathKey(value.path) === key)
  if (known !== undefined || computed.has(key)) return { path: names, entity: known?.entity }
  const many = firstMany(names, type)
  const collection = many === 0 ? findNavigation(type, names[0]!) : undefined
  const rest = collection === undefined ? names : names.slice(1)
  const from = collection?.target.type ?? type
  if (many !== null && (collection === undefined || firstMany(rest, from) !== null))
    throw unsupported(
      `a path to nodes through a collection in another one, or after an entity, in ${word}`,
    )
  const last = navigationAlong(from, rest.slice(0, -1))
  const isKey =
    rest.at(-1) === node.name &&
    last?.target.name === row.set.name &&
    last.on.theirs.name === node.name
  return { path: names, entity: isKey ? last : undefined, ...(collection && { collection }) }
}

/** The last navigation property of a path through single entities. */
function navigationAlong(type: EntityType, names: readonly string[]) {
  let found: NavigationProperty | undefined
  for (const name of names) {
    found = findNavigation(found?.target.type ?? type, name)
    if (found === undefined) return undefined
  }
  return found
}

/** Where it is told by which way a node was reached (section 6.2.2.2): in its entity, or beside its value. */
export function upPathAt(
  place: NodePlace | null,
  { hierarchy }: NamedHierarchy,
): readonly string[] {
  const term = `@Aggregation.UpPath#${hierarchy.name}`
  if (place === null) return [term]
  if (place.collection !== undefined)
    throw unsupported('a choice of where trees begin, with a path to nodes through a collection,')
  const above = place.path.slice(0, -1)
  return place.entity === undefined ? [...above, `${place.path.at(-1)!}${term}`] : [...above, term]
}

/** The collection with the one node of a row, whose value the row has in `ours`. */
export function nodeInCollection(
  { path, entity, collection }: NodePlace,
  ours: Property,
  { set, hierarchy }: NamedHierarchy,
  context: ApplyContext,
): NestedRows {
  const nodes = entityRows(set)
  const [name, ...rest] = path as readonly [string, ...string[]]
  const { target } = collection!
  if (rest.length === 0)
    throw typeMismatch(`${name} is a collection: name the property that is the node`)
  const { columns, make } = projectionOf(nodes, context)
  const { node } = hierarchy
  const value = {
    kind: 'property',
    type: node.type,
    row: rowVariable(nodes),
    property: node,
  } as const
  const property = make(rest.at(-1)!, node.type, value)
  const relation = {
    kind: 'project',
    from: nodes.relation,
    row: rowVariable(nodes),
    columns,
  } as const
  const rows = rowsOfValues({ ...nodes, set: target }, relation, [{ path: rest, property, entity }])
  return { path: [name], many: true, ours, link: property, rows }
}
