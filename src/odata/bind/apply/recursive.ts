// rolluprecursive: the rows of each node of a hierarchy together with those of all nodes below it (Data Aggregation 4.0,
// section 6.3).
//
// A row becomes one for each node above its own, and these are grouped by that node, which is a value with a name that no
// property has until the sequence has made of the groups what it makes.

import { newRow } from '../scope.ts'
import { invalidOption, unsupported } from '../../protocol/errors.ts'
import type { HierarchySyntax } from '../../syntax/syntax.ts'
import { type ChosenNodes, type NodeRows, propertyOf } from '../bound.ts'
import type { NamedHierarchy } from '../expression/hierarchy.ts'
import { bindAggregate } from './aggregate.ts'
import { chosenNodes, isOwnNode, nodesOf, type RowsWithNode, startsOf } from './hierarchy.ts'
import { onceEach } from './collection-path.ts'
import { nodeInCollection, type NodePlace, nodePlace, upPathAt } from './node-place.ts'
import { crossed, joinOf, linked } from './parents.ts'
import {
  type ApplyContext,
  type ApplyRows,
  besides,
  type BindSequence,
  type Input,
  newProperty,
  pathKey,
  projectionOf,
  propertyValue,
  rowsOfValues,
  rowVariable,
  type ValueColumn,
  withinSize,
  withNavigation,
  withRowCount,
} from './rows.ts'
import { scopeOfRows } from './row-scope.ts'

interface Nodes {
  readonly named: NamedHierarchy
  readonly of: NodeRows
  /** The value that is the node of a row. */
  readonly key: string
  readonly part: ApplyRows | null
  readonly chosen: ChosenNodes | null
}

/** `total` makes of the rows of each node what the groups in it become. */
export function bindRecursive(
  syntax: HierarchySyntax,
  input: Input,
  bindSequence: BindSequence,
  total: (given: Input) => ApplyRows,
): ApplyRows {
  const { rows, groups, context } = input
  const { within } = syntax
  const { named, of, withNode } = nodesOf(syntax, rows, context)
  const part =
    within === null ? null : chosenNodes(named, within, 'rolluprecursive', context, bindSequence)
  const key = `node ${(context.rollups ?? []).length + groups.length}`
  const nodes: Nodes = { named, of, key, part, chosen: part && startsOf(part, named, []) }
  const isOwn = isOwnNode(syntax, rows, of)
  const place = isOwn
    ? null
    : nodePlace(syntax, rows, of, scopeOfRows(rows, context), 'rolluprecursive')
  const inner = { ...context, rollups: [...(context.rollups ?? []), { key, ...named }] }
  const made = total({
    rows: withNodesAbove(withNode(rows), nodes, context),
    groups: [...groups, key],
    context: inner,
    parents: eachNode(input, nodes),
  })
  const last = within?.at(-1)
  const sorted = last?.kind === 'traverse' ? inOrderOf(made, nodes, place, context) : made
  return place === null
    ? withEntities(sorted, nodes, groups, context)
    : withPlace(sorted, nodes, place, input)
}

/** Those that have no rows, too: each of them in each group. */
function eachNode(input: Input, { of, key, part, chosen }: Nodes): ApplyRows {
  const { rows, groups, parents, context } = input
  const node = newProperty(key, of.node.type, context)
  const relation = { kind: 'nodes', nodes: of, chosen, column: node.column.name } as const
  const listed = {
    ...rowsOfValues(rows, relation, [{ path: [key], property: node }]),
    unique: [key],
    size: (part?.size ?? 1) + 1,
  }
  const around = parents ?? (groups.length === 0 ? null : bindAggregate([], input))
  const all = around === null ? listed : crossed(around, listed, context)
  return withRowCount(all, of.row.set.relation.rows)
}

/** A row with several nodes is one of the rows of a node once. */
function withNodesAbove(
  { rows, value, number }: RowsWithNode,
  { of, key, part, chosen }: Nodes,
  context: ApplyContext,
): ApplyRows {
  const { columns, renamed, keep, keepValues, keepOrder } = projectionOf(rows, context)
  const values = keepValues()
  const order = keepOrder()
  const same = number && keep(number)
  const above = newProperty(key, of.node.type, context)
  const { relation: from, unique, added, set } = rows
  const row = rowVariable(rows)
  const place = above.column.name
  const relation = { kind: 'above', from, row, columns, place, value, nodes: of, chosen } as const
  const made = rowsOfValues(rows, relation, [...values, { path: [key], property: above }])
  const count = Math.min(set.relation.rows * of.row.set.relation.rows, Number.MAX_SAFE_INTEGER)
  const all = withinSize({
    ...made,
    set: withNavigation(made.set, set.type.navigation, renamed),
    unique: unique && [...unique, key],
    order,
    added,
    ...besides(rows, keep),
    size: made.size + (part?.size ?? 1) + 2,
  })
  return withRowCount(same === null ? all : onceEach(all, [same, above]), count)
}

const nodeIn = ({ values }: ApplyRows, key: string) =>
  values.find(({ path }) => path[0] === key)!.property

/** In the order of a tree that the nodes were chosen by, and as often as they are in that. */
function inOrderOf(
  rows: ApplyRows,
  { named, key, part, chosen }: Nodes,
  at: NodePlace | null,
  context: ApplyContext,
) {
  const { columns, renamed, make, keep, keepValues, keepOrder } = projectionOf(rows, context)
  const values = keepValues()
  const otherRow = newRow(scopeOfRows(rows, context), part!.set)
  const take = ({ name, type, ...property }: ApplyRows['order'][number]['property']) =>
    make(name, type, propertyOf(otherRow, { name, type, ...property }))
  const places = part!.order.map(({ property, descending }) => ({
    property: take(property),
    descending,
  }))
  const order = [...places, ...keepOrder()]
  const beside = besides(rows, keep)
  const annotations = (part!.annotations ?? []).map(({ property }) => ({
    path: upPathAt(at, named),
    property: take(property),
  }))
  const ours = propertyValue(rows, nodeIn(rows, key))
  const on = [linked(ours, propertyOf(otherRow, chosen!.node))]
  const relation = joinOf(rows, { other: part!.relation, otherRow, on, isOuter: false, columns })
  const made = rowsOfValues(rows, relation, values)
  return withinSize({
    ...made,
    set: withNavigation(made.set, rows.set.type.navigation, renamed),
    order,
    added: rows.added,
    ...beside,
    annotations: [...(beside.annotations ?? []), ...annotations],
    size: made.size + part!.size,
  })
}

const renamedKeys = (unique: readonly string[] | null, key: string, to: string) =>
  unique && unique.map((each) => (each === key ? to : each))

/** What rows are grouped by around the nodes stays. */
function withPlace(
  rows: ApplyRows,
  { named, key }: Nodes,
  place: NodePlace,
  { groups, context }: Input,
): ApplyRows {
  const { path, entity, collection } = place
  const property = nodeIn(rows, key)
  const to = pathKey(path)
  const isKept = groups.includes(to)
  if (!isKept) requireFree(rows, [to])
  const others = rows.values.filter(
    (value) => value.path[0] !== key && (isKept || pathKey(value.path) !== to),
  )
  if (!isKept && others.some((value) => value.path[0] === path[0]))
    throw unsupported(`rolluprecursive of ${to} next to another value at ${path[0]}`)
  const isValue = collection === undefined
  const placed = { path, property: { ...property, name: path.at(-1)! }, entity }
  const values = isKept || !isValue ? others : [placed, ...others]
  const made = rowsOfValues(rows, rows.relation, values)
  const kept = new Map(values.map((value) => [value.property, value.property]))
  const beside = besides(rows, (same) => same)
  return {
    ...made,
    set: withNavigation(made.set, rows.set.type.navigation, kept),
    unique: isKept || !isValue ? null : renamedKeys(rows.unique, key, to),
    order: isValue ? rows.order : [...rows.order, { property, descending: false }],
    ...beside,
    ...(!isValue && {
      nested: [...(beside.nested ?? []), nodeInCollection(place, property, named, context)],
    }),
    size: rows.size,
  }
}

/** What the node brings replaces what its rows have there, but no total, which would be lost. */
function requireFree({ added, values }: ApplyRows, keys: readonly string[]): void {
  const taken = values.find(({ path }) => keys.includes(pathKey(path)))
  if (added === null && taken !== undefined)
    throw invalidOption(`"${pathKey(taken.path)}" is taken by the node of rolluprecursive`)
}

/** Rows of the set that has the nodes have all that the entity of their node has, but for what they are grouped by. */
function withEntities(
  rows: ApplyRows,
  { named, key, part }: Nodes,
  groups: readonly string[],
  context: ApplyContext,
): ApplyRows {
  const { set, hierarchy } = named
  const otherRow = newRow(scopeOfRows(rows, context), set)
  const { columns, make, keep, keepOrder } = projectionOf(rows, context)
  const brought = set.type.properties.filter(({ name }) => !groups.includes(name))
  const own = brought.map((property): ValueColumn => {
    const value = propertyOf(otherRow, property)
    return { path: [property.name], property: make(property.name, property.type, value) }
  })
  const others = rows.values
    .filter(({ path }) => path[0] !== key && !own.some((each) => each.path[0] === path[0]))
    .map((value) => ({
      ...value,
      property: keep(value.property),
      mark: value.mark && keep(value.mark),
    }))
  const order = keepOrder()
  requireFree(
    rows,
    own.map(({ path }) => path[0]!),
  )
  const ours = propertyValue(rows, nodeIn(rows, key))
  const entity = { other: { kind: 'set', set }, otherRow } as const
  const on = [linked(ours, propertyOf(otherRow, hierarchy.node))]
  const relation = joinOf(rows, { ...entity, on, isOuter: false, columns })
  const made = rowsOfValues(rows, relation, [...own, ...others])
  // Entities of which each is there once are still entities.
  const isOnce = rows.unique?.length === 1 && rows.unique[0] === key
  const renamed = new Map(brought.map((each, i) => [each, own[i]!.property]))
  return withinSize({
    ...made,
    set: withNavigation(made.set, set.type.navigation, renamed),
    unique: renamedKeys(rows.unique, key, hierarchy.node.name),
    order,
    added: isOnce ? others.map(({ path }) => path[0]!) : null,
    ...besides(rows, keep),
    size: made.size + (part?.size ?? 1),
  })
}
