// What expressions about rows between two transformations may name: their values, and what stands beside and in them.

import { type Expression, propertyOf, type RowVariable } from '../bound.ts'
import {
  type AddedRows,
  newRow,
  NOTHING_NAMED,
  type RequestContext,
  type RowNames,
  type Scope,
  scopeOfRow,
} from '../scope.ts'
import type { EntitySet } from '../../edm/model.ts'
import { type ApplyRows, type NestedRows, pathKey, rowVariable, type ValueColumn } from './rows.ts'

/** The scope of expressions about one of the rows. Nested values are known by their whole path. */
export function scopeOfRows(rows: ApplyRows, context: RequestContext, row = rowVariable(rows)) {
  let marks: Map<string, Expression> | undefined
  const computed = new Map<string, Expression>()
  for (const { path, property, mark } of rows.values) {
    if (mark !== undefined) (marks ??= new Map()).set(pathKey(path), propertyOf(row, mark))
    if (path.length > 1) computed.set(pathKey(path), propertyOf(row, property))
  }
  const scope = scopeOfRow(context, row, {
    computed,
    marks: marks ?? NOTHING_NAMED.marks,
    collections: collectionsOf(rows, row),
  })
  return rows.joined === undefined ? scope : { ...scope, variables: joinedRows(rows, row) }
}

function collectionsOf(
  { nested = [], values }: ApplyRows,
  row: RowVariable,
): RowNames['collections'] {
  const entities = values.filter(isInObject)
  if (nested.length + entities.length === 0) return NOTHING_NAMED.collections
  return new Map([
    ...entities.map(
      (value) =>
        [pathKey(value.path.slice(0, -1)), (scope: Scope) => entityIn(value, row, scope)] as const,
    ),
    ...nested.map(
      (one) => [pathKey(one.path), (scope: Scope) => addedRows(one, row, scope)] as const,
    ),
  ])
}

/** Whether it is the key of an entity that was reached through another one, which is no entity here. */
const isInObject = (value: ValueColumn) => value.entity !== undefined && value.path.length > 2

function entityIn({ entity, property }: ValueColumn, row: RowVariable, scope: Scope): AddedRows {
  const navigation = entity!
  const link = { ours: propertyOf(row, property), theirs: navigation.on.theirs }
  const source = { kind: 'rows', row: newRow(scope, navigation.target), link, key: null } as const
  return { kind: 'one', source, named: NOTHING_NAMED, navigation }
}

/** Each use writes the relation once more, of which every SELECT counts as a row that is followed. */
function addedRows(
  { many, ours, link, rows }: NestedRows,
  row: RowVariable,
  scope: Scope,
): AddedRows {
  const { request } = scope
  request.rows.count += rows.size - 1
  const theirs = newRow(scope, withOwnKey(rows, request.sets))
  const { computed, marks, collections } = scopeOfRows(rows, request, theirs)
  const { relation } = rows
  const on = { ours: propertyOf(row, ours), theirs: link }
  return {
    kind: many ? 'many' : 'one',
    source: { kind: 'rows', row: theirs, link: on, key: null, relation },
    named: { computed, marks, collections },
  }
}

/** The set of rows with what tells them apart as its key: that of their entities, as long as they are such. */
export function withOwnKey(
  { set, added, unique, values }: ApplyRows,
  sets: RequestContext['sets'],
): EntitySet {
  const names = added === null ? unique : sets.get(set.name)?.type.key.map(({ name }) => name)
  const found = (names ?? []).map((name) => values.find(({ path }) => pathKey(path) === name))
  const key = found.flatMap((value) => value?.property ?? [])
  return { ...set, type: { ...set.type, key: key.length < found.length ? [] : key } }
}

/** The entities beside a row, as rows whose values are columns of that row. */
function joinedRows({ joined, values }: ApplyRows, { alias }: RowVariable) {
  const rows = Array.from(joined!, ([name, set]): [string, RowVariable] => {
    const own = values.filter(({ path }) => path[0] === name && path.length === 2)
    const property = new Map(own.map((value) => [value.path[1]!, value.property]))
    const properties = [...property.values()]
    const navigation = set.type.navigation.flatMap((each) => {
      const ours = property.get(each.on.ours.name)
      return ours === undefined ? [] : [{ ...each, on: { ...each.on, ours } }]
    })
    const key = set.type.key.flatMap((part) => property.get(part.name) ?? [])
    return [name, { alias, set: { ...set, type: { ...set.type, key, properties, navigation } } }]
  })
  return new Map(rows)
}
