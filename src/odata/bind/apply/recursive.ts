// rolluprecursive: the rows of each node of a hierarchy together with those of all nodes below it (Data Aggregation 4.0,
// section 6.3).
//
// A row becomes one for each node above its own, and these are grouped by that node, which is a value with a name that no
// property has until the sequence has made of the groups what it makes.

import { findNavigation, newRow, type Scope } from '../scope.ts'
import { invalidOption, unsupported } from '../../protocol/errors.ts'
import type { NavigationProperty } from '../../edm/model.ts'
import type { HierarchySyntax, TransformationSyntax } from '../../syntax/syntax.ts'
import { type Expression, type NodeRows, propertyOf } from '../bound.ts'
import { booleanConstant } from '../expression/constants.ts'
import { bindAggregate } from './aggregate.ts'
import { isOwnNode, nodesOf } from './hierarchy.ts'
import { hasTotal } from './join.ts'
import {
  type ApplyRows,
  around,
  besides,
  type BindSequence,
  type Input,
  newProperty,
  pathKey,
  projectionOf,
  propertyValue,
  rowsOfValues,
  rowVariable,
  scopeOfRows,
  type ValueColumn,
  withinSize,
  withNavigation,
  withRowCount,
} from './rows.ts'

const NODE = 'node of a hierarchy'

interface Recursive {
  readonly syntax: HierarchySyntax
  readonly sequence: readonly TransformationSyntax[]
  /** What the rows are grouped by besides; null: nothing. */
  readonly keyed: ((input: Input) => Input) | null
}

type Nodes = ReturnType<typeof nodesOf>

export function bindRecursive(
  { syntax, sequence, keyed }: Recursive,
  input: Input,
  bindSequence: BindSequence,
): ApplyRows {
  const { rows, context } = input
  const scope = scopeOfRows(rows, context)
  const nodes = nodesOf({ ...syntax, kind: 'rolluprecursive' }, input, scope, bindSequence)
  const isOwn = isOwnNode(syntax, rows, nodes.of)
  const place = placeOf(syntax, rows, nodes.of, scope)
  const unfolded = {
    rows: withNodesAbove(input, nodes, nodes.valueIn(scope)),
    groups: [NODE],
    context,
  }
  const ready = keyed === null ? unfolded : keyed(unfolded)
  // A total of no rows is a row, so each node has one.
  const end = sequence.findIndex(({ kind }) => kind === 'aggregate') + 1
  if (keyed === null && hasTotal(sequence.filter(({ kind }) => kind === 'concat')))
    throw unsupported('aggregate within concat within rolluprecursive')
  const totals = sequence.slice(0, end)
  let made = sequence.length === 0 ? bindAggregate([], ready) : bindSequence(totals, ready)
  if (keyed === null && end > 0) {
    const { relation: from } = rows
    const condition = booleanConstant(false)
    const no = around(rows, { kind: 'filter', from, row: rowVariable(rows), condition })
    made = withEveryNode(
      made,
      bindSequence(totals, { rows: no, groups: [], context }),
      nodes,
      context,
    )
  }
  const result = bindSequence(sequence.slice(end), { ...ready, rows: made })
  return isOwn ? withEntities(result, nodes, context) : withPlace(result, place)
}

/** Where the node stands in a row: in the place of its own, and as the whole entity where that leads to it. */
function placeOf(
  { path }: HierarchySyntax,
  rows: ApplyRows,
  { row, node }: NodeRows,
  { computed }: Scope,
) {
  const [first = '', second] = path.names
  if (first.startsWith('$') || path.names.some((name) => name.includes('.')))
    throw unsupported('$it or a type cast in rolluprecursive')
  const key = pathKey(path.names)
  const known = rows.values.find((value) => pathKey(value.path) === key)
  if (known !== undefined || computed.has(key)) return { path: path.names, entity: known?.entity }
  const navigation = findNavigation(rows.set.type, first)
  const isKey =
    path.names.length === 2 &&
    second === node.name &&
    navigation?.many === false &&
    navigation.target.name === row.set.name &&
    navigation.on.theirs.name === second
  return { path: path.names, entity: isKey ? navigation : undefined }
}

function withNodesAbove(
  { rows, context }: Input,
  { of, size }: Nodes,
  value: Expression,
): ApplyRows {
  const { columns, renamed, keep, keepValues, keepOrder } = projectionOf(rows, context)
  const values = keepValues()
  const order = keepOrder()
  const above = newProperty(NODE, of.node.type, context)
  const { relation: from, unique, added, set } = rows
  const row = rowVariable(rows)
  const relation = {
    kind: 'above',
    from,
    row,
    columns,
    place: above.column.name,
    value,
    nodes: of,
  } as const
  const made = rowsOfValues(rows, relation, [...values, { path: [NODE], property: above }])
  const count = Math.min(set.relation.rows * of.row.set.relation.rows, Number.MAX_SAFE_INTEGER)
  return withRowCount(
    withinSize({
      ...made,
      set: withNavigation(made.set, set.type.navigation, renamed),
      unique: unique && [...unique, NODE],
      order,
      added,
      ...besides(rows, keep),
      size: made.size + size + 2,
    }),
    count,
  )
}

const isNode = ({ path }: ValueColumn) => path[0] === NODE

/** `none`: the one row that the same transformations make of no rows. */
function withEveryNode(
  totals: ApplyRows,
  none: ApplyRows,
  { of, size }: Nodes,
  context: Input['context'],
): ApplyRows {
  const row = rowVariable(totals)
  const noneRow = newRow(scopeOfRows(totals, context), none.set)
  const key = propertyValue(totals, totals.values.find(isNode)!.property)
  const node = newProperty(NODE, of.node.type, context)
  const columns = totals.values.flatMap((total) => {
    const ofNone = none.values.find(({ path }) => pathKey(path) === pathKey(total.path))
    if (ofNone === undefined) return []
    const property = newProperty(total.property.name, total.property.type, context)
    const [value, empty] = [propertyOf(row, total.property), propertyOf(noneRow, ofNone.property)]
    return [{ path: total.path, property, column: property.column.name, value, ofNone: empty }]
  })
  const relation = {
    kind: 'everyNode',
    from: totals.relation,
    row,
    nodes: of,
    place: node.column.name,
    value: key,
    columns,
    none: none.relation,
    noneRow,
    ofNone: columns.map(({ ofNone }) => ofNone),
  } as const
  const values = [
    { path: [NODE], property: node },
    ...columns.map(({ path, property }) => ({ path, property })),
  ]
  const made = rowsOfValues(totals, relation, values)
  return withRowCount(
    withinSize({ ...made, unique: [NODE], size: made.size + none.size + size + 2 }),
    of.row.set.relation.rows,
  )
}

const renamedKeys = (unique: readonly string[] | null, to: string) =>
  unique && unique.map((key) => (key === NODE ? to : key))

interface Place {
  readonly path: readonly string[]
  readonly entity: NavigationProperty | undefined
}

function withPlace(rows: ApplyRows, { path, entity }: Place): ApplyRows {
  const { property } = rows.values.find(isNode)!
  const key = pathKey(path)
  requireFree(rows, [key])
  const others = rows.values.filter((value) => !isNode(value) && pathKey(value.path) !== key)
  if (others.some((value) => value.path[0] === path[0]))
    throw unsupported(`rolluprecursive of ${key} next to another value at ${path[0]}`)
  const values = [{ path, property: { ...property, name: path.at(-1)! }, entity }, ...others]
  const made = rowsOfValues(rows, rows.relation, values)
  const kept = new Map(values.map((value) => [value.property, value.property]))
  return {
    ...made,
    set: withNavigation(made.set, rows.set.type.navigation, kept),
    unique: renamedKeys(rows.unique, key),
    order: rows.order,
    size: rows.size,
  }
}

/** What the node brings replaces what its rows have there, but no total, which would be lost. */
function requireFree({ added, values }: ApplyRows, keys: readonly string[]): void {
  const taken = values.find(({ path }) => keys.includes(pathKey(path)))
  if (added === null && taken !== undefined)
    throw invalidOption(`"${pathKey(taken.path)}" is taken by the node of rolluprecursive`)
}

/** Rows of the set that has the nodes have all that the entity of their node has. */
function withEntities(
  rows: ApplyRows,
  { named, size }: Nodes,
  context: Input['context'],
): ApplyRows {
  const { set, hierarchy } = named
  const otherRow = newRow(scopeOfRows(rows, context), set)
  const { columns, make, keep, keepOrder } = projectionOf(rows, context)
  const own = set.type.properties.map((property) => {
    const value = propertyOf(otherRow, property)
    return { path: [property.name], property: make(property.name, property.type, value) }
  })
  const others = rows.values
    .filter((value) => !isNode(value) && !own.some(({ path }) => path[0] === value.path[0]))
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
  const ours = propertyValue(rows, rows.values.find(isNode)!.property)
  const relation = {
    kind: 'join',
    from: rows.relation,
    row: rowVariable(rows),
    other: { kind: 'set', set },
    otherRow,
    link: { ours, theirs: hierarchy.node },
    isOuter: false,
    columns,
  } as const
  const made = rowsOfValues(rows, relation, [...own, ...others])
  // Entities of which each is there once are still entities.
  const isOnce = rows.unique?.length === 1 && rows.unique[0] === NODE
  const renamed = new Map(set.type.properties.map((each, i) => [each, own[i]!.property]))
  return withinSize({
    ...made,
    set: withNavigation(made.set, set.type.navigation, renamed),
    unique: renamedKeys(rows.unique, hierarchy.node.name),
    order,
    added: isOnce ? others.map(({ path }) => path[0]!) : null,
    size: made.size + size,
  })
}
