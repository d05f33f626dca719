// ancestors, descendants and traverse: rows whose nodes stand above or below those of other rows, and rows in the order of
// trees (Data Aggregation 4.0, section 6.2).

import { typeMismatch } from '../../protocol/errors.ts'
import type { HierarchySyntax, TransformationSyntax } from '../../syntax/syntax.ts'
import type { Property } from '../../edm/model.ts'
import { collectionOf, edm } from '../../edm/types.ts'
import type { ChosenNodes, NodeRows, OrderItem } from '../bound.ts'
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
  projectionOf,
  rowsOfValues,
  rowVariable,
  scopeOfRows,
  totalOrder,
  withNavigation,
  withinSize,
} from './rows.ts'

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
  const scope = scopeOfRows(rows, context)
  const { of: all, valueIn, named } = nodesOf(syntax, scope, context)
  const part = within === null ? null : chosenNodes(named, within, kind, context, bindSequence)
  const of = part === null ? all : amongChosen(all, part)
  const found = bindSequence(start, input)
  const { relation: from } = rows
  const made = around(rows, {
    kind: 'relatives',
    from,
    row: rowVariable(rows),
    which: kind === 'ancestors' ? 'ancestor' : 'descendant',
    value: valueIn(scope),
    partition: partitionOf(rows, groups),
    nodes: of,
    start: {
      areNodes: part === null && isOwnNode(syntax, rows, of),
      rows: found.relation,
      row: rowVariable(found),
      value: valueIn(scopeOfRows(found, context)),
      partition: partitionOf(found, groups),
    },
    distance: checkedDistance(syntax.distance),
    withStart: keepStart,
  })
  return withinSize({ ...made, size: made.size + found.size + (part?.size ?? 1) })
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
  const { rows, context } = input
  const scope = scopeOfRows(rows, context)
  const { of, valueIn, named } = nodesOf(syntax, scope, context)
  const orderIn = (inner: Scope) => bindOrder(items, inner).filter(isSortable)
  const part =
    within === null ? null : chosenNodes(named, within, 'traverse', context, bindSequence)
  const chosen = part === null ? null : startsOf(part, named, orderIn(scopeOfRows(part, context)))
  const { columns, renamed, keep, keepValues, keepOrder } = projectionOf(rows, context)
  const values = keepValues()
  const sorted = keepOrder()
  const place = newProperty('sort', edm.String, context)
  const up =
    part === null
      ? null
      : newProperty(
          `${isOwnNode(syntax, rows, of) ? '' : syntax.path.names[0]}${upPath(named)}`,
          TEXTS,
          context,
        )
  const { relation: from, unique, added } = rows
  const relation = {
    kind: 'traverse',
    from,
    row: rowVariable(rows),
    columns,
    place: place.column.name,
    up: up && up.column.name,
    value: valueIn(scope),
    nodes: of,
    chosen,
    order: orderIn(scopeOfRow(context, of.row)),
    isPreorder,
  } as const
  const made = rowsOfValues(rows, relation, values)
  return withinSize({
    ...made,
    set: withNavigation(made.set, rows.set.type.navigation, renamed),
    unique: part === null ? unique : null,
    order: [{ property: place, descending: false }, ...sorted],
    added,
    ...besides(rows, keep),
    ...(up && { annotations: [...(rows.annotations ?? []).map(keep), up] }),
    size: made.size + (part?.size ?? 1) + 2,
  })
}

const TEXTS = collectionOf(edm.String)

/** The annotation that tells by which way a node was reached (section 6.2.2.2). */
const upPath = ({ hierarchy }: NamedHierarchy) => `@Aggregation.UpPath#${hierarchy.name}`

/** All nodes, and the value at the path in the row of a scope. */
export function nodesOf(
  { nodes, qualifier, at, path }: HierarchySyntax,
  scope: Scope,
  context: ApplyContext,
) {
  const named = hierarchyNamed(nodes, { name: qualifier, at }, scope)
  const valueIn = (inner: Scope) =>
    withinLimits(nodeValue(bindPath(path, inner), named.hierarchy, path.at), context)
  return { named, of: nodeRows(named, scope), valueIn }
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
