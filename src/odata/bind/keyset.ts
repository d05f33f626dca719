// Orders in which the values of a row identify its position, so that a page can begin there.
//
// A position is compared as DuckDB sorts: this holds for types whose values have one text each, which reads back as
// the same value, and whose order is the same when sorted and when compared. Floating point has two zeros and NaN.

import {
  type Expression,
  type OrderItem,
  propertyOf,
  type PropertyValue,
  type RowVariable,
} from './bound.ts'
import type { BoundQuery } from './bound-request.ts'
import type { EntitySet } from '../edm/model.ts'
import { isStoredInOrder } from '../edm/stored-order.ts'

/** An order by properties that no two rows share. */
export type Keyset = readonly KeysetItem[]

export interface KeysetItem {
  readonly value: PropertyValue
  readonly descending: boolean
}

const INEXACT: readonly string[] = ['Edm.Double', 'Edm.Duration', 'Edm.Single']

/** null where rows must be counted to know where a page begins. */
export function keysetOf({ relation, row, order, set }: BoundQuery): Keyset | null {
  if (relation.kind !== 'set') return null
  return order.length === 0 ? storedKeyset(set, row) : exactKeyset(order, set, row)
}

/** The order of the rows in their file. null when the key has values that are not exact, or there is none. */
export function storedKeyset(set: EntitySet, row: RowVariable): Keyset | null {
  const stored = set.type.key.map((property) => ({
    value: propertyOf(row, property),
    descending: false,
  }))
  return exactKeyset(stored, set, row)
}

function exactKeyset(items: readonly OrderItem[], set: EntitySet, row: RowVariable): Keyset | null {
  const isExact = ({ value }: OrderItem) =>
    isOwnProperty(value, row.alias) &&
    value.type.kind === 'primitive' &&
    !INEXACT.includes(value.type.name) &&
    isStoredInOrder(value.property)
  if (set.type.key.length === 0 || !items.every(isExact)) return null
  const keyset = items as Keyset
  const isTotal = set.type.key.every((part) => keyset.some(({ value }) => value.property === part))
  return isTotal ? keyset : null
}

const isOwnProperty = (value: Expression, alias: string): value is PropertyValue =>
  value.kind === 'property' && value.row.alias === alias

/** Where a page begins: what its first row has in the columns of the order. Texts of DuckDB, null for NULL. */
export type Position = readonly (string | null)[]

/** Longer positions are not carried in links, which must fit into a URL with everything else. */
const POSITION_LENGTH = 2_000

/** null when a link could not carry it. `text`: a JSON array. */
export function readPosition(text: string): Position | null {
  return text.length > POSITION_LENGTH ? null : (JSON.parse(text) as Position)
}
