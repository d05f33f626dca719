// ancestors, descendants and traverse: rows whose nodes stand above or below those of other rows, and rows in the order of
// trees (Data Aggregation 4.0, section 6.2).

import { typeMismatch, unsupported } from '../../protocol/errors.ts'
import type { HierarchySyntax, TransformationSyntax } from '../../syntax/syntax.ts'
import { edm } from '../../edm/types.ts'
import type { Expression, NodeRows } from '../bound.ts'
import { checkedDistance, hierarchyNamed, nodeRows, nodeValue } from '../expression/hierarchy.ts'
import { bindOrder } from '../expression/expression.ts'
import { bindPath } from '../expression/path.ts'
import { scopeOfRow, type Scope } from '../scope.ts'
import { withinLimits } from '../size.ts'
import {
  applyContext,
  type ApplyRows,
  around,
  besides,
  type BindSequence,
  entityRows,
  type Input,
  isSortable,
  newProperty,
  projectionOf,
  rowsOfValues,
  rowVariable,
  scopeOfRows,
  withNavigation,
  withinSize,
} from './rows.ts'

type Relatives = TransformationSyntax & { readonly kind: 'ancestors' | 'descendants' }
type Traverse = TransformationSyntax & { readonly kind: 'traverse' }

/** Rows keep their order. */
export function bindRelatives(
  syntax: Relatives,
  input: Input,
  bindSequence: BindSequence,
): ApplyRows {
  const { kind, start, keepStart } = syntax
  const { rows, context } = input
  requireSubset(start, kind)
  const scope = scopeOfRows(rows, context)
  const { of, valueIn, size } = nodesOf(syntax, input, scope, bindSequence)
  const chosen = bindSequence(start, input)
  const condition: Expression = {
    kind: 'isNode',
    value: valueIn(scope),
    nodes: {
      of,
      which: kind === 'ancestors' ? 'ancestor' : 'descendant',
      start: {
        kind: 'ofRows',
        areNodes: syntax.within === null && isOwnNode(syntax, rows, of),
        rows: chosen.relation,
        row: rowVariable(chosen),
        value: valueIn(scopeOfRows(chosen, context)),
      },
      distance: checkedDistance(syntax.distance),
      withStart: keepStart,
    },
  }
  const { relation: from } = rows
  const made = around(rows, { kind: 'filter', from, row: rowVariable(rows), condition })
  return withinSize({ ...made, size: made.size + chosen.size + size })
}

/** Rows of which no root leads to the node are left out. */
export function bindTraverse(
  syntax: Traverse,
  input: Input,
  bindSequence: BindSequence,
): ApplyRows {
  const { isPreorder, items } = syntax
  const { rows, context } = input
  const scope = scopeOfRows(rows, context)
  const { of, valueIn, size } = nodesOf(syntax, input, scope, bindSequence)
  const value = valueIn(scope)
  const order = bindOrder(items, scopeOfRow(context, of.row)).filter(isSortable)
  const { columns, renamed, keep, keepValues, keepOrder } = projectionOf(rows, context)
  const values = keepValues()
  const sorted = keepOrder()
  const place = newProperty('sort', edm.String, context)
  const { relation: from, unique, added } = rows
  const relation = {
    kind: 'traverse',
    from,
    row: rowVariable(rows),
    columns,
    place: place.column.name,
    value,
    nodes: of,
    order,
    isPreorder,
  } as const
  const made = rowsOfValues(rows, relation, values)
  return withinSize({
    ...made,
    set: withNavigation(made.set, rows.set.type.navigation, renamed),
    unique,
    order: [{ property: place, descending: false }, ...sorted],
    added,
    ...besides(rows, keep),
    size: made.size + size + 2,
  })
}

/** The nodes, and the value at the path in the row of a scope. `size`: SELECTs of the nodes. */
export function nodesOf(
  syntax: HierarchySyntax & { readonly kind: string },
  { groups, context }: Input,
  scope: Scope,
  bindSequence: BindSequence,
) {
  const { kind, nodes, path, within } = syntax
  if (groups.length > 0) throw unsupported(`${kind} within groupby or join`)
  const named = hierarchyNamed(nodes, { name: syntax.qualifier, at: syntax.at }, scope)
  const valueIn = (inner: Scope) =>
    withinLimits(nodeValue(bindPath(path, inner), named.hierarchy, path.at), context)
  const of = nodeRows(named, scope)
  if (within === null) return { named, of, valueIn, size: 1 }
  requireSubset(within, kind)
  const all = {
    rows: entityRows(named.set),
    groups: [],
    context: applyContext(context, [named.set]),
  }
  const chosen = bindSequence(within, all)
  return { named, of: amongChosen(of, chosen), valueIn, size: chosen.size }
}

function amongChosen({ row, node, parent }: NodeRows, chosen: ApplyRows): NodeRows {
  const columnOf = ({ name }: NodeRows['node']) =>
    chosen.values.find(({ path }) => path.length === 1 && path[0] === name)!.property
  return {
    rows: chosen.relation,
    row: { ...row, set: chosen.set },
    node: columnOf(node),
    parent: columnOf(parent),
  }
}

/** Whether the path is the key of the rows, which are entities of the set that has the nodes. */
export function isOwnNode(
  { path }: HierarchySyntax,
  { set, added }: ApplyRows,
  { row, node }: NodeRows,
) {
  const isOwn = added !== null && set.name === row.set.name && !added.includes(node.name)
  return isOwn && path.names.length === 1 && path.names[0] === node.name
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
