// A total of no rows is a row: where transformations work on the rows of each parent separately, as within join and
// addnested, the parents without any have one as well, which the transformations after it keep or leave out.

import type { Property } from '../../edm/model.ts'
import { edm } from '../../edm/types.ts'
import { compare, type Expression, NULL, propertyOf } from '../bound.ts'
import { booleanConstant, wholeNumber } from '../expression/constants.ts'
import { newRow } from '../scope.ts'
import {
  around,
  type ApplyContext,
  type ApplyRows,
  type Input,
  type NewValue,
  pathKey,
  projectionOf,
  propertyValue,
  rowsOfValues,
  rowVariable,
  scopeOfRows,
  type ValueColumn,
  withinSize,
  withValues,
} from './rows.ts'

// The side of the link that the rows of a parent hold is a value with a name that no property has.

export const LINK = 'link to parent'

export const isLink = ({ path }: Pick<ValueColumn, 'path'>) => path[0] === LINK

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

/** What `total` makes of the rows of each parent of the input, or of all rows where there are no parents. */
export function ofEachParent(input: Input, total: (given: Input) => ApplyRows): ApplyRows {
  const made = total(input)
  const { parents, groups, context, rows } = input
  // A groupby within makes groups of what there is.
  if (parents === undefined || groups.some((path) => path !== LINK)) return made
  const { relation: from } = rows
  const condition = booleanConstant(false)
  const nothing = around(rows, { kind: 'filter', from, row: rowVariable(rows), condition })
  const none = total({ rows: nothing, groups: [], context })
  const found = besideParents(parents, made, context)
  return orNone(found, withLink(none, { value: wholeNumber(1), type: edm.Int64 }, context), context)
}

const THERE = 'is there'
const ONE = 'one'

/** Each parent with its total, whether there is one, and what all of them have in common. */
function besideParents(parents: ApplyRows, made: ApplyRows, context: ApplyContext): ApplyRows {
  const { columns, make, keepValues } = projectionOf(parents, context)
  const otherRow = newRow(scopeOfRows(parents, context), made.set)
  const theirs = linkOf(made)
  const isThere = compare('ne', propertyOf(otherRow, theirs), NULL)
  const values: readonly ValueColumn[] = [
    ...keepValues(),
    { path: [THERE], property: make(THERE, edm.Boolean, isThere) },
    { path: [ONE], property: make(ONE, edm.Int64, wholeNumber(1)) },
    ...made.values
      .filter((value) => !isLink(value))
      .map(({ path, property }) => ({
        path,
        property: make(property.name, property.type, propertyOf(otherRow, property)),
      })),
  ]
  const relation = {
    kind: 'join',
    from: parents.relation,
    row: rowVariable(parents),
    other: made.relation,
    otherRow,
    link: { ours: propertyValue(parents, linkOf(parents)), theirs },
    isOuter: true,
    columns,
  } as const
  const result = rowsOfValues(made, relation, values)
  return withinSize({ ...result, size: result.size + parents.size })
}

/** `none` has one row, of which the values are taken where there is no total. */
function orNone(found: ApplyRows, none: ApplyRows, context: ApplyContext): ApplyRows {
  const { columns, make, keep } = projectionOf(found, context)
  const noneRow = newRow(scopeOfRows(found, context), none.set)
  const [there, one] = [THERE, ONE].map(
    (name) => found.values.find(({ path }) => path[0] === name)!.property,
  ) as [Property, Property]
  const otherwise = new Map(none.values.map(({ path, property }) => [pathKey(path), property]))
  const values = found.values.flatMap((each): readonly ValueColumn[] => {
    const { path, property } = each
    if (property === there || property === one) return []
    if (isLink(each)) return [{ ...each, property: keep(property) }]
    const value: Expression = {
      kind: 'case',
      type: property.type,
      branches: [
        { condition: propertyValue(found, there), value: propertyValue(found, property) },
        {
          condition: booleanConstant(true),
          value: propertyOf(noneRow, otherwise.get(pathKey(path))!),
        },
      ],
    }
    return [{ path, property: make(property.name, property.type, value) }]
  })
  const relation = {
    kind: 'join',
    from: found.relation,
    row: rowVariable(found),
    other: none.relation,
    otherRow: noneRow,
    link: { ours: propertyValue(found, one), theirs: linkOf(none) },
    isOuter: false,
    columns,
  } as const
  const result = rowsOfValues(found, relation, values)
  return withinSize({ ...result, unique: [LINK], size: result.size + none.size })
}

export const linkOf = ({ values }: ApplyRows) => values.find(isLink)!.property
