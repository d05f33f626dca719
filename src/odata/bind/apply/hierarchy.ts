// ancestors, descendants and traverse: rows whose nodes stand above or below those of other rows, and rows in the order of
// trees (Data Aggregation 4.0, section 6.2).

import { typeMismatch } from '../../protocol/errors.ts'
import type { HierarchySyntax, TransformationSyntax } from '../../syntax/syntax.ts'
import type { Property } from '../../edm/model.ts'
import { collectionOf, edm } from '../../edm/types.ts'
import type { ChosenNodes, Expression, NodeRows, OrderItem } from '../bound.ts'
import { onceEach, rowsPerNode } from './collection-path.ts'
import { nodeInCollection, nodePlace, upPathAt } from './node-place.ts'
import {
  checkedDistance,
  hierarchyNamed,
  type NamedHierarchy,
  nodeRows,
  nodeValue,
} from '../expression/hierarchy.ts'
import { bindOrder } from '../expression/expression.ts'
import { bindPath } from '../expression/path.ts'
import { scopeOfRow, type Scope } from '../scope.ts'
import { withinLimits } from '../size.ts'
import {
  applyContext,
  type ApplyContext,
  type ApplyRows,
  around,
  besides,
  type BindSequence,
  entityRows,
  type Input,
  isSortable,
  newProperty,
  partitionOf,
  pathKey,
  projectionOf,
  propertyValue,
  rowsOfValues,
  rowVariable,
  totalOrder,
  withNavigation,
  withinSize,
} from './rows.ts'
import { scopeOfRows } from './row-scope.ts'

type Relatives = TransformationSyntax & { readonly kind: 'ancestors' | 'descendants' }
type Traverse = TransformationSyntax & { readonly kind: 'traverse' }

/** Rows keep their order. Within groupby and join, the start nodes are those of the same group. */
export function bindRelatives(
  syntax: Relatives,
  input: Input,
  bindSequence: BindSequence,
): ApplyRows {
  const { kind, start, keepStart, within } = syntax
  const { rows, groups, context } = input
  requireSubset(start, kind)
  const { of: all, withNode, named } = nodesOf(syntax, rows, context)
  const part = within === null ? null : chosenNodes(named, within, kind, context, bindSequence)
  const of = part === null ? all : amongChosen(all, part)
  const own = withNode(rows)
  const chosen = bindSequence(start, input)
  const found = withNode(chosen)
  const { relation: from } = own.rows
  const made = around(own.rows, {
    kind: 'relatives',
    from,
    row: rowVariable(own.rows),
    which: kind === 'ancestors' ? 'ancestor' : 'descendant',
    value: own.value,
    partition: partitionOf(own.rows, groups),
    nodes: of,
    start: {
      areNodes: part === null && isOwnNode(syntax, rows, of),
      rows: found.rows.relation,
      row: rowVariable(found.rows),
      value: found.value,
      partition: partitionOf(found.rows, groups),
    },
    distance: checkedDistance(syntax.distance),
    withStart: keepStart,
  })
  const once = own.number === null ? made : onceEach(made, [own.number])
  return withinSize({ ...once, size: once.size + found.rows.size + (part?.size ?? 1) })
}

/**
 * Rows whose node none of the start nodes leads to are left out. These are the roots, or those that a sequence chooses,
 * of which one may lead to another: its rows come once for each way to them.
 */
export function bindTraverse(
  syntax: Traverse,
  input: Input,
  bindSequence: BindSequence,
): ApplyRows {
  const { isPreorder, items, within } = syntax
  const { rows: given, context } = input
  const { of, withNode, named } = nodesOf(syntax, given, context)
  const orderIn = (inner: Scope) => bindOrder(items, inner).filter(isSortable)
  const part =
    within === null ? null : chosenNodes(named, within, 'traverse', context, bindSequence)
  const chosen = part === null ? null : startsOf(part, named, orderIn(scopeOfRows(part, context)))
  const place = isOwnNode(syntax, given, of)
    ? null
    : nodePlace(syntax, given, of, scopeOfRows(given, context), 'traverse')
  const { rows, value } = withNode(given)
  const { columns, renamed, make, keep, keepValues, keepOrder } = projectionOf(rows, context)
  const values = keepValues()
  const sorted = keepOrder()
  const key = newProperty('sort', edm.String, context)
  const up =
    part === null
      ? null
      : { path: upPathAt(place, named), property: newProperty('up', TEXTS, context) }
  const { relation: from, unique, added } = rows
  const isAdded =
    place !== null && !values.some(({ path }) => pathKey(path) === pathKey(place.path))
  const node = isAdded ? make(place.path.at(-1)!, of.node.type, value) : null
  const relation = {
    kind: 'traverse',
    from,
    row: rowVariable(rows),
    columns,
    place: key.column.name,
    up: up && up.property.column.name,
    value,
    nodes: of,
    chosen,
    order: orderIn(scopeOfRow(context, of.row)),
    isPreorder,
  } as const
  const isValue = place?.collection === undefined
  const placed = node !== null && isValue ? [{ ...place!, property: node }] : []
  const made = rowsOfValues(rows, relation, [...values, ...placed])
  const beside = besides(rows, keep)
  const nested = node === null || isValue ? [] : [nodeInCollection(place!, node, named, context)]
  return withinSize({
    ...made,
    set: withNavigation(made.set, rows.set.type.navigation, renamed),
    unique: part === null ? unique : null,
    order: [{ property: key, descending: false }, ...sorted],
    added,
    ...beside,
    ...(nested.length > 0 && { nested: [...(beside.nested ?? []), ...nested] }),
    ...(up && { annotations: [...(beside.annotations ?? []), up] }),
    size: made.size + (part?.size ?? 1) + 2,
  })
}

const TEXTS = collectionOf(edm.String)

/** All nodes, and how rows get what is the node of each. */
export function nodesOf(
  { nodes, qualifier, at, path }: HierarchySyntax,
  rows: ApplyRows,
  context: ApplyContext,
) {
  const scope = scopeOfRows(rows, context)
  const named = hierarchyNamed(nodes, { name: qualifier, at }, scope)
  const asNode = (value: Expression) =>
    withinLimits(nodeValue(value, named.hierarchy, path.at), context)
  /** With a path through collections, each row comes once for each of its nodes, and `number` tells which are one. */
  const withNode = (of: ApplyRows): RowsWithNode => {
    const each = rowsPerNode(path, of, context, asNode)
    if (each === null)
      return { rows: of, value: asNode(bindPath(path, scopeOfRows(of, context))), number: null }
    return { ...each, value: propertyValue(each.rows, each.node) }
  }
  return { named, of: nodeRows(named, scope), withNode }
}

export interface RowsWithNode {
  readonly rows: ApplyRows
  readonly value: Expression
  readonly number: Property | null
}

/** What a sequence chooses of the nodes. */
export function chosenNodes(
  { set }: NamedHierarchy,
  within: readonly TransformationSyntax[],
  word: string,
  context: ApplyContext,
  bindSequence: BindSequence,
): ApplyRows {
  requireSubset(within, word)
  const all = { rows: entityRows(set), groups: [], context: applyContext(context, [set]) }
  return bindSequence(within, all)
}

/** Sorted by `order` first. */
export function startsOf(
  part: ApplyRows,
  { hierarchy }: NamedHierarchy,
  order: readonly OrderItem[],
): ChosenNodes {
  const row = rowVariable(part)
  return {
    rows: part.relation,
    row,
    node: columnIn(part, hierarchy.node),
    order: totalOrder(part, order),
  }
}

const columnIn = ({ values }: ApplyRows, { name }: Property) =>
  values.find(({ path }) => path.length === 1 && path[0] === name)!.property

/** A hierarchy of these alone. */
const amongChosen = ({ row, node, parent }: NodeRows, part: ApplyRows): NodeRows => ({
  rows: part.relation,
  row: { ...row, set: part.set },
  node: columnIn(part, node),
  parent: columnIn(part, parent),
})

/** Whether the path is the key of the rows, which are entities of the set that has the nodes. */
export function isOwnNode(
  { path: { names } }: HierarchySyntax,
  { set, added }: ApplyRows,
  { row, node }: Pick<NodeRows, 'row' | 'node'>,
) {
  const isOwn = added !== null && set.name === row.set.name && !added.includes(node.name)
  return isOwn && names.length === 1 && names[0] === node.name
}

/** Transformations whose rows are some of those that they get. */
const subsets: readonly TransformationSyntax['kind'][] = [
  'identity',
  'filter',
  'search',
  'orderby',
  'top',
  'skip',
  'ranked',
  'ancestors',
  'descendants',
  'traverse',
]

function requireSubset(sequence: readonly TransformationSyntax[], word: string): void {
  const other = sequence.find(({ kind }) => !subsets.includes(kind))
  if (other !== undefined)
    throw typeMismatch(
      `${other.kind} within ${word} would make other rows: only filter, search, orderby, top, skip, topcount and the like, ancestors and descendants choose some of them`,
    )
}
