// Pages by position: a page begins at the row whose key, or other order values, the link carries. DuckDB goes there
// by the statistics of its row groups, while skipped rows would have to be read again to be counted.
//
// Every page reads one row more than it returns. Of that row DuckDB writes no JSON but its position, which the next
// link carries. A snapshot never changes, so the next page begins with exactly that row.

import { type Sql, sql } from '../../core/sql.ts'
import { BIGINT, VARCHAR } from './engine-types.ts'
import { columnSql } from './expression.ts'
import type { Keyset, KeysetItem, Position } from '../bind/keyset.ts'

/** What a page adds to its rows. */
export interface KeysetWindow {
  readonly columns: readonly Sql[]
  /** The condition on rows from the position on; null: from the first. */
  readonly from: Sql | null
  /**
   * The text of a row of the table `page`, or of the row after the last of the page its position, as a JSON array.
   * `number` is that of the row in the page, from 1 on.
   */
  readonly placed: (text: Sql, number: Sql) => Sql
}

const columnName = (i: number) => sql.ident(`at ${i}`)

const itemSql = ({ value }: KeysetItem) => columnSql(value.row.alias, value.property)

/** `limit`: the rows of the page; null when none comes after it. */
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

/** Rows at the position and after it. */
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
  if (next === undefined && at !== null && !item.value.property.nullable) return notBefore(item, at)
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

/** Says less than the whole condition, in the form that DuckDB compares with the statistics of row groups. */
function leadingBound({ item, at }: Pair): Sql | null {
  const isNullLater = item.descending && item.value.property.nullable
  return at === null || isNullLater ? null : notBefore(item, at)
}

const notBefore = (item: KeysetItem, at: string) =>
  sql`${itemSql(item)} ${item.descending ? sql`<=` : sql`>=`} ${valueAt(item, at)}`

const valueAt = ({ value }: KeysetItem, text: string): Sql => sql.value(text, value.type.engine)
