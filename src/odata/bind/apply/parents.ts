// A total of no rows is a row: where transformations work on the rows of each parent separately, as within join and
// addnested, or on those of each node of a hierarchy, those without any have one as well, which the transformations after it
// may keep or leave out. What tells the parents apart are the groups of the rows, and all values of the parents.

import { edm } from '../../edm/types.ts'
import {
  call,
  compare,
  type Expression,
  NULL,
  propertyOf,
  type Relation,
  type RowVariable,
} from '../bound.ts'
import { booleanConstant } from '../expression/constants.ts'
import { newRow } from '../scope.ts'
import {
  around,
  type ApplyContext,
  type ApplyRows,
  type Input,
  type NewValue,
  partitionOf,
  pathKey,
  projectionOf,
  propertyValue,
  rowsOfValues,
  rowVariable,
  type ValueColumn,
  withinSize,
  withValues,
} from './rows.ts'
import { scopeOfRows } from './row-scope.ts'

/** The side of the link that the rows of a parent hold is a value with this name. */
export const LINK = 'link to parent'

const isLink = ({ path }: Pick<ValueColumn, 'path'>) => path[0] === LINK

/** The same rows with what they have in common with their parent; that of a sequence around it is not of these. */
export function withLink(
  rows: ApplyRows,
  { value, type }: Pick<NewValue, 'value' | 'type'>,
  context: ApplyContext,
): ApplyRows {
  const values = rows.values.filter((each) => !isLink(each))
  const input = { rows: { ...rows, values }, groups: [], context }
  return withValues(input, [{ path: [LINK], value, type }], [])
}

export const linkOf = ({ values }: ApplyRows) => values.find(isLink)!.property

/** Whether one row leads to the other by a link. */
export const linked = (ours: Expression, theirs: Expression): Expression =>
  call('linked', edm.Boolean, theirs, ours)

type JoinRelation = Relation & { readonly kind: 'join' }

/** Each of the rows with those of another relation for which the conditions hold. */
export const joinOf = (
  rows: ApplyRows,
  other: Omit<JoinRelation, 'kind' | 'from' | 'row'>,
): JoinRelation => ({ kind: 'join', from: rows.relation, row: rowVariable(rows), ...other })

/** What `total` makes of the rows of each parent of the input, or of all rows where there are no parents. */
export function ofEachParent(input: Input, total: (given: Input) => ApplyRows): ApplyRows {
  const made = total(input)
  const { parents, groups, context, rows } = input
  if (parents === undefined) return made
  const { relation: from } = rows
  const condition = booleanConstant(false)
  const nothing = around(rows, { kind: 'filter', from, row: rowVariable(rows), condition })
  const none = total({ rows: nothing, groups: [], context })
  return orNone(besideParents(parents, made, groups, context), none, context)
}

const THERE = 'is there'

const isThere = ({ path }: ValueColumn) => path[0] === THERE

/** Each parent with its total, and whether there is one. */
function besideParents(
  parents: ApplyRows,
  totals: ApplyRows,
  groups: readonly string[],
  context: ApplyContext,
): ApplyRows {
  const there = { path: [THERE], value: booleanConstant(true), type: edm.Boolean }
  const made = withValues({ rows: totals, groups, context }, [there], [])
  const { columns, make, keepValues } = projectionOf(parents, context)
  const otherRow = newRow(scopeOfRows(parents, context), made.set)
  const values: readonly ValueColumn[] = [
    ...keepValues(),
    ...made.values
      .filter(({ path }) => !groups.includes(pathKey(path)))
      .map(valueOf(otherRow, make)),
  ]
  const on = samePartition(partitionOf(parents, groups), partitionOf(made, groups, otherRow))
  const relation = joinOf(parents, { other: made.relation, otherRow, on, isOuter: true, columns })
  const result = rowsOfValues(made, relation, values)
  return withinSize({ ...result, unique: groups, size: result.size + parents.size })
}

/** `none` has one row, of which the values are taken where there is no total. */
function orNone(found: ApplyRows, none: ApplyRows, context: ApplyContext): ApplyRows {
  const { columns, make, keep } = projectionOf(found, context)
  const noneRow = newRow(scopeOfRows(found, context), none.set)
  const there = propertyValue(found, found.values.find(isThere)!.property)
  const otherwise = new Map(none.values.map(({ path, property }) => [pathKey(path), property]))
  const values = found.values.flatMap((each): readonly ValueColumn[] => {
    const { path, property, mark } = each
    if (isThere(each)) return []
    const ofNone = otherwise.get(pathKey(path))
    if (ofNone === undefined)
      return [{ ...each, property: keep(property), mark: mark && keep(mark) }]
    const value: Expression = {
      kind: 'case',
      type: property.type,
      branches: [
        { condition: compare('ne', there, NULL), value: propertyValue(found, property) },
        { condition: booleanConstant(true), value: propertyOf(noneRow, ofNone) },
      ],
    }
    return [{ path, property: make(property.name, property.type, value) }]
  })
  const one = { other: none.relation, otherRow: noneRow }
  const relation = joinOf(found, { ...one, on: [], isOuter: false, columns })
  const result = rowsOfValues(found, relation, values)
  return withinSize({ ...result, unique: found.unique, size: result.size + none.size })
}

/** A value of the other row as a new column. */
const valueOf =
  (otherRow: RowVariable, make: ReturnType<typeof projectionOf>['make']) =>
  ({ path, property }: ValueColumn): ValueColumn => ({
    path,
    property: make(property.name, property.type, propertyOf(otherRow, property)),
  })

/** Every combination of one row of each; the values of `other` have names of their own. */
export function crossed(rows: ApplyRows, other: ApplyRows, context: ApplyContext): ApplyRows {
  const { columns, make, keepValues } = projectionOf(rows, context)
  const otherRow = newRow(scopeOfRows(rows, context), other.set)
  const values = [...keepValues(), ...other.values.map(valueOf(otherRow, make))]
  const all = { other: other.relation, otherRow, on: [] }
  const relation = joinOf(rows, { ...all, isOuter: false, columns })
  const made = rowsOfValues(rows, relation, values)
  const unique = values.map(({ path }) => pathKey(path))
  return withinSize({ ...made, unique, size: made.size + other.size })
}

/** Conditions. To groupby all NaN are one value, as all nulls are. */
export const samePartition = (theirs: readonly Expression[], ours: readonly Expression[]) =>
  theirs.map((value, i): Expression => call('same', edm.Boolean, value, ours[i]!))
