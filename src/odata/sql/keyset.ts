// Pages by position: a page begins at the row whose key, or other order values, the link carries. The engine goes there
// by the statistics of its row groups, while rows given before would have to be read again to be counted.
//
// Every page asks for one row more than it gives. Of that row the engine writes no JSON but its position, which the next
// link carries. A snapshot never changes, so the next page begins with exactly that row.
//
// A position is compared as the engine sorts: this holds for types whose values have one text each, which reads back as
// the same value, and whose order is the same when sorted and when compared. Floating point has two zeros and NaN.

import { type Sql, sql } from '../../core/sql.ts'
import {
  type BoundQuery,
  type Expression,
  type OrderItem,
  propertyOf,
  type PropertyValue,
  type RowVariable,
} from '../bind/bound.ts'
import { BIGINT, VARCHAR } from './engine-types.ts'
import type { EntitySet, Property } from '../edm/entity-model.ts'
import { columnSql } from './expression.ts'
import type { Position } from '../answer/link-tokens.ts'

/** An order by properties that no two rows share. */
export type Keyset = readonly KeysetItem[]

export interface KeysetItem {
  readonly value: PropertyValue
  readonly descending: boolean
}

/** What a page adds to its rows. */
export interface KeysetWindow {
  readonly columns: readonly Sql[]
  /** The condition on rows from the position on; null: from the first. */
  readonly from: Sql | null
  /**
   * The text of a row of the table `page`, or of the row behind the last of the page its position, as a JSON array.
   * `number` is that of the row in the page, from 1 on.
   */
  readonly placed: (text: Sql, number: Sql) => Sql
}

const EXACT_TYPES: readonly string[] = [
  'Edm.Binary',
  'Edm.Boolean',
  'Edm.Byte',
  'Edm.Date',
  'Edm.DateTimeOffset',
  'Edm.Decimal',
  'Edm.Guid',
  'Edm.Int16',
  'Edm.Int32',
  'Edm.Int64',
  'Edm.SByte',
  'Edm.String',
  'Edm.TimeOfDay',
]

/** Types of columns that are read as another one without a change of their order. */
const SAME_ORDER: readonly string[] = [
  'UTINYINT',
  'USMALLINT',
  'UINTEGER',
  'UBIGINT',
  'TIMESTAMP_S',
  'TIMESTAMP_MS',
  'TIMESTAMP WITH TIME ZONE',
]

/** Whether rows that are stored in the order of the column are in the order of the property too. */
export const isStoredInOrder = ({ column, type, clamped }: Property): boolean =>
  !clamped && (column.type === type.engine || SAME_ORDER.includes(column.type))

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
    EXACT_TYPES.includes(value.type.name) &&
    isStoredInOrder(value.property)
  if (set.type.key.length === 0 || !items.every(isExact)) return null
  const keyset = items as Keyset
  const isTotal = set.type.key.every((part) => keyset.some(({ value }) => value.property === part))
  return isTotal ? keyset : null
}

const isOwnProperty = (value: Expression, alias: string): value is PropertyValue =>
  value.kind === 'property' && value.row.alias === alias

const columnName = (i: number) => sql.ident(`at ${i}`)
const itemSql = ({ value }: KeysetItem) => columnSql(value.row.alias, value.property)

/** `limit`: the rows of the page; null when none comes behind it. */
export function keysetWindow(
  keyset: Keyset,
  position: Position | null,
  limit: number | null,
): KeysetWindow {
  const from = position === null ? null : fromSql(keyset, position)
  if (limit === null) return { columns: [], from, placed: (text) => text }
  const columns = keyset.map((item, i) => sql`${itemSql(item)} AS ${columnName(i)}`)
  const values = keyset.map((_, i) => {
    const value = sql`CAST(${sql.ident('page')}.${columnName(i)} AS ${sql.type(VARCHAR)})`
    return sql`coalesce(CAST(to_json(${value}) AS VARCHAR), 'null')`
  })
  const next = sql`concat('[', ${sql.join(values, sql`, ',', `)}, ']')`
  return {
    columns,
    from,
    placed: (text, number) =>
      sql`CASE WHEN ${number} > ${sql.value(limit, BIGINT)} THEN ${next} ELSE ${text} END`,
  }
}

/** Rows at the position and behind it. */
function fromSql(keyset: Keyset, position: Position): Sql {
  const pairs = keyset.map((item, i) => ({ item, at: position[i] ?? null }))
  const [first, ...more] = pairs as [Pair, ...Pair[]]
  const all = beyond(first, more)
  const bound = more.length === 0 ? null : leadingBound(first)
  return bound === null ? all : sql`${bound} AND ${all}`
}

interface Pair {
  readonly item: KeysetItem
  readonly at: string | null
}

function beyond(pair: Pair, [next, ...rest]: readonly Pair[]): Sql {
  const { item, at } = pair
  const value = itemSql(item)
  const same = at === null ? sql`${value} IS NULL` : sql`${value} = ${valueAt(item, at)}`
  if (next === undefined && at !== null && !item.value.property.nullable)
    return item.descending
      ? sql`${value} <= ${valueAt(item, at)}`
      : sql`${value} >= ${valueAt(item, at)}`
  const tail = next === undefined ? same : sql`${same} AND ${beyond(next, rest)}`
  const after = strictlyAfter(pair)
  return after === null ? sql`(${tail})` : sql`(${after} OR (${tail}))`
}

/** Nulls come first ascending and last descending. null: no row can come after. */
function strictlyAfter({ item, at }: Pair): Sql | null {
  const value = itemSql(item)
  if (at === null) return item.descending ? null : sql`${value} IS NOT NULL`
  const bound = valueAt(item, at)
  if (!item.descending) return sql`${value} > ${bound}`
  return item.value.property.nullable
    ? sql`${value} < ${bound} OR ${value} IS NULL`
    : sql`${value} < ${bound}`
}

/** Says less than the whole condition, in the form that the engine compares with the statistics of row groups. */
function leadingBound({ item, at }: Pair): Sql | null {
  if (at === null || (item.descending && item.value.property.nullable)) return null
  const value = itemSql(item)
  return item.descending
    ? sql`${value} <= ${valueAt(item, at)}`
    : sql`${value} >= ${valueAt(item, at)}`
}

const valueAt = ({ value }: KeysetItem, text: string): Sql => sql.value(text, value.type.engine)
