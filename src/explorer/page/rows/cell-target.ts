import { keyOf } from '../address/key.ts'
import { writeLiteral } from '../address/literal.ts'
import type { Route } from '../address/route.ts'
import type { EntitySet } from '../model/schema.ts'
import { textOf, type Row, type Value } from '../model/value.ts'
import type { RowColumn } from './columns.ts'

/** Where a value leads: its own row for the key, the row of another set for a key of that. */
export function targetOf(
  set: EntitySet,
  column: RowColumn,
  row: Row,
  value: Value | undefined,
): Extract<Route, { view: 'row' }> | undefined {
  if (value === null || value === undefined || typeof value === 'object') return undefined
  if (column.navigation !== undefined && column.property !== undefined) {
    const { target, constraint } = column.navigation
    if (constraint.length !== 1) return undefined
    const key = writeLiteral(textOf(value), column.property.edm)
    return { view: 'row', set: target, key, query: '' }
  }
  if (!column.isKey) return undefined
  const key = keyOf(set, row)
  return key === undefined ? undefined : { view: 'row', set: set.name, key, query: '' }
}
