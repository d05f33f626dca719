// Paths that lead to nodes through collections: a row has as many nodes as there are different values at the end (Data
// Aggregation 4.0, section 6.1). Each row becomes one for each of its nodes, and has a number by which it is known again.

import { typeMismatch, unsupported } from '../../protocol/errors.ts'
import { edm } from '../../edm/types.ts'
import type { EntityType, Property } from '../../edm/model.ts'
import type { PathSyntax } from '../../syntax/syntax.ts'
import { type ColumnValue, type Expression, propertyOf, type Relation, typeOf } from '../bound.ts'
import { bindPath, pathTarget } from '../expression/path.ts'
import { findNavigation, type Scope, scopeOfRow } from '../scope.ts'
import { joinOf, linked } from './parents.ts'
import { scopeOfRows } from './row-scope.ts'
import {
  type ApplyContext,
  type ApplyRows,
  around,
  besides,
  projectionOf,
  propertyValue,
  rowsOfValues,
  rowVariable,
  withinSize,
  withNavigation,
} from './rows.ts'

/** The place of the first name in a path that leads to many entities; null: none does. */
export function firstMany(names: readonly string[], type: EntityType): number | null {
  let here = type
  for (const [i, name] of names.entries()) {
    const navigation = findNavigation(here, name)
    if (navigation === undefined) return null
    if (navigation.many) return i
    here = navigation.target.type
  }
  return null
}

interface PerNode {
  readonly rows: ApplyRows
  readonly node: Property
  /** The same for all that one row has become. */
  readonly number: Property
}

/** Null where the path leads to one node at most. `asNode` makes a node of the value at its end. */
export function rowsPerNode(
  path: PathSyntax,
  rows: ApplyRows,
  context: ApplyContext,
  asNode: (value: Expression) => Expression,
): PerNode | null {
  const first = firstMany(path.names, rows.set.type)
  if (first === null) return null
  if (path.keys.size > 0) throw unsupported('a key in a path to nodes')
  const numbered = withMore(
    rows,
    context,
    ({ make }) => [make('number', edm.Int64, { kind: 'rowNumber', type: edm.Int64, order: [] })],
    (columns) => ({ kind: 'project', from: rows.relation, row: rowVariable(rows), columns }),
  )
  let { rows: made } = numbered
  let [number, node] = [numbered.added[0]!, numbered.added[0]!]
  let names = path.names
  let link = linkTo(path, first, scopeOfRows(made, context))
  for (;;) {
    const { ours, theirs, row, relation, taken } = link
    names = names.slice(taken)
    const within = { ...path, names }
    const inner = scopeOfRow(context, row)
    const more = firstMany(names, row.set.type)
    const next = more === null ? null : linkTo(within, more, inner)
    const value = next === null ? asNode(valueAt(within, inner, path)) : next.ours
    const from = made
    const on = [linked(ours, propertyOf(row, theirs))]
    const other = {
      other: relation,
      otherRow: row,
      on,
      isOuter: false,
    } as const
    const found = withMore(
      from,
      context,
      ({ make, keep }) => [keep(number), make('node', typeOf(value)!, value)],
      (columns) => joinOf(from, { ...other, columns }),
    )
    made = found.rows
    ;[number, node] = found.added as [Property, Property]
    if (next === null) return { rows: onceEach(made, [number, node]), node, number }
    link = { ...next, ours: propertyValue(made, node) }
  }
}

function linkTo(path: PathSyntax, many: number, scope: Scope) {
  const taken = many + 1
  const target = pathTarget({ ...path, names: path.names.slice(0, taken) }, path.at, scope)
  if (target.kind !== 'many' || target.source.link === null)
    throw new Error(`${path.names.join('/')} leads to no collection`)
  const { link, row, relation = { kind: 'set', set: row.set } } = target.source
  return { ours: target.wrap(link.ours), theirs: link.theirs, row, relation, taken }
}

function valueAt(path: PathSyntax, scope: Scope, whole: PathSyntax): Expression {
  if (path.names.length > 0) return bindPath(path, scope)
  throw typeMismatch(
    `${whole.names.join('/')} is a collection of entities: name the property that is the node (at character ${whole.at + 1})`,
  )
}

/** One row for all that are equal in these. */
export const onceEach = (rows: ApplyRows, properties: readonly Property[]): ApplyRows =>
  around(rows, {
    kind: 'window',
    from: rows.relation,
    row: rowVariable(rows),
    partition: properties.map((property) => propertyValue(rows, property)),
    order: [],
    skip: 0,
    top: 1,
  })

/** The same rows over new columns, with some that are no values of them. */
function withMore(
  rows: ApplyRows,
  context: ApplyContext,
  add: (columns: ReturnType<typeof projectionOf>) => readonly Property[],
  relationOf: (columns: readonly ColumnValue[]) => Relation,
) {
  const projection = projectionOf(rows, context)
  const { columns, renamed, keep, keepValues, keepOrder } = projection
  const values = keepValues()
  const order = keepOrder()
  const beside = besides(rows, keep)
  const added = add(projection)
  const made = rowsOfValues(rows, relationOf(columns), values)
  const set = withNavigation(made.set, rows.set.type.navigation, renamed)
  const { unique } = rows
  return {
    rows: withinSize({ ...made, set, unique, order, added: rows.added, ...beside }),
    added,
  }
}
