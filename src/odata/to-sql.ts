// A bound query as one SELECT.

import { columnType } from '../core/relation.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { BoundQuery } from './bound.ts'
import { conditionSql, valueSql } from './expression-sql.ts'
import { orderSql, relationSql } from './relation-sql.ts'

const BIGINT = columnType('BIGINT')

/**
 * The output properties, named by them and in their order, each in the engine type of its EdmType. `offset` counts
 * rows after $skip; rows beyond $top never come, whatever `limit` says.
 */
export function rowsSql(
  query: BoundQuery,
  window: { readonly offset: number; readonly limit: number | null },
): Sql {
  const columns = query.output.map(
    ({ name, value }) => sql`${valueSql(value)} AS ${sql.ident(name)}`,
  )
  const selected = columns.length === 0 ? sql`1 AS ${sql.ident('none')}` : sql.join(columns)
  return sql`SELECT ${selected} ${fromSql(query)}${orderSql(query.order)}${windowSql(query, window)}`
}

/** One row with one column `count`: the rows that pass the filter, before $skip and $top. */
export function countSql(query: BoundQuery): Sql {
  return sql`SELECT count(*) AS ${sql.ident('count')} ${fromSql(query)}`
}

function fromSql({ relation, row, filter }: BoundQuery): Sql {
  const from = sql`FROM ${relationSql(relation)} AS ${sql.ident(row.alias)}`
  return filter === null ? from : sql`${from} WHERE ${conditionSql(filter)}`
}

function windowSql(
  { skip, top }: BoundQuery,
  { offset, limit }: { readonly offset: number; readonly limit: number | null },
): Sql {
  const left = top === null ? null : Math.max(0, top - offset)
  const rows = left === null || limit === null ? (left ?? limit) : Math.min(left, limit)
  const skipped = Math.min(skip + offset, Number.MAX_SAFE_INTEGER)
  const limitSql = rows === null ? sql.empty : sql` LIMIT ${sql.value(rows, BIGINT)}`
  return skipped === 0 ? limitSql : sql`${limitSql} OFFSET ${sql.value(skipped, BIGINT)}`
}
