// A bound query as one SELECT.

import type { TableName } from '../../core/snapshot.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { BoundQuery, OutputProperty } from '../bind/bound-request.ts'
import { isGeoName } from '../edm/geo.ts'
import { BIGINT, VARCHAR } from './engine-types.ts'
import { conditionSql, valueSql } from './expression.ts'
import { placeTextSql } from './geo.ts'
import type { KeysetWindow } from './keyset.ts'
import { orderSql, relationSql } from './relation.ts'
import { rowsWithSql } from './visible-rows.ts'

export interface RowWindow {
  /** Rows before these, counted after $skip. */
  readonly offset: number
  readonly limit: number | null
  /** Rows of these that are shown; those after them only tell that there are more. null or absent: all. */
  readonly shown?: number | null
  /** Where the order of the rows can tell where to begin: no row before these is read. */
  readonly keyset?: KeysetWindow | null
  /** Whether limits.manyRows or more may come. */
  readonly areMany?: boolean
}

/**
 * The output properties, named by them and in their order, each in the DuckDB type of its EdmType; with a keyset also
 * what the rows are ordered by. Rows beyond $top never come, even when `limit` is higher.
 */
export function rowsSql(query: BoundQuery, window: RowWindow): Sql {
  const { keyset = null } = window
  const columns = keyset === null ? [] : keyset.columns
  return selectSql(sql.join([columnsSql(query), ...columns]), query, window)
}

/** The same rows with `columns`, which may name the columns of the row of `query`. */
export function selectSql(columns: Sql, query: BoundQuery, window: RowWindow): Sql {
  return sql`SELECT ${columns} ${rowsFrom(query, window)}${orderSql(query.order)}${windowSql(query, window)}`
}

/**
 * Of a set whose rows lie in two tables, the first rows of both: DuckDB would look for them among all. Where a table
 * has its rows in that order, it is read no further than that.
 */
function rowsFrom(query: BoundQuery, window: RowWindow): Sql {
  const { relation, row, order, isStoredOrder } = query
  const parts = relation.kind === 'set' ? relation.set.parts : null
  const begin = window.keyset?.from ?? null
  const { rows, skipped } = boundsOf(query, window)
  if (parts === null || order.length === 0 || rows === null)
    return sql`FROM ${setSql(query)} AS ${sql.ident(row.alias)}${whereSql(query, begin)}`
  const first = sql`LIMIT ${sql.value(Math.min(skipped + rows, Number.MAX_SAFE_INTEGER), BIGINT)}`
  const some = (table: TableName, isSorted: boolean) =>
    sql`(SELECT * FROM ${sql.ident(...table)} AS ${sql.ident(row.alias)}${whereSql(query, begin)}${isSorted ? sql.empty : orderSql(order)} ${first})`
  return sql`FROM (${some(parts.most, isStoredOrder === true)} UNION ALL ${some(parts.few, false)}) AS ${sql.ident(row.alias)}`
}

/** The output properties, and for each expansion the value that its link begins at, as `r1 key`, and what it hands down. */
export function columnsSql({ output, expand }: BoundQuery): Sql {
  const handedDown = new Map(
    expand.flatMap(({ outer }) => outer.map(({ name, value }) => [name, value])),
  )
  const columns = [
    ...output.map(({ name, value }) => sql`${valueSql(value)} AS ${sql.ident(name)}`),
    ...output.flatMap(({ name, mark }) =>
      mark === undefined ? [] : [sql`${valueSql(mark)} AS ${sql.ident(markName(name))}`],
    ),
    ...expand.map(
      (related) =>
        sql`${valueSql(related.link.ours)} AS ${sql.ident(`${related.query.row.alias} key`)}`,
    ),
    ...expand.flatMap(({ mark, query }) =>
      mark === undefined ? [] : [sql`${valueSql(mark)} AS ${sql.ident(markName(query.row.alias))}`],
    ),
    ...expand.flatMap(({ annotations = [], query }) =>
      annotations.map(
        ({ value }, i) => sql`${valueSql(value)} AS ${sql.ident(aboutName(query.row.alias, i))}`,
      ),
    ),
    ...Array.from(handedDown, ([name, value]) => sql`${valueSql(value)} AS ${sql.ident(name)}`),
  ]
  return columns.length === 0 ? sql`1 AS ${sql.ident('none')}` : sql.join(columns)
}

/** The column that says whether a row has the value of that name; no property has a space in its name. */
export const markName = (name: string): string => `${name} mark`

/** The column of an annotation that a row has for the entity with that alias. */
export const aboutName = (alias: string, i: number): string => `${alias} about ${i}`

/** One row with one column `count`: the rows that pass the filter, before $skip and $top. */
export function countSql(query: BoundQuery): Sql {
  return sql`SELECT count(*) AS ${sql.ident('count')} ${fromSql(query)}`
}

/** The same as digits. */
export const countTextSql = (query: BoundQuery): Sql =>
  sql`SELECT CAST("count" AS VARCHAR) FROM (${countSql(query)})`

const fromSql = (query: BoundQuery): Sql =>
  sql`FROM ${setSql(query)} AS ${sql.ident(query.row.alias)}${whereSql(query, null)}`

function setSql({ relation, filter, order, output }: BoundQuery): Sql {
  const values = [...order, ...output].map(({ value }) => value)
  return relation.kind === 'set' ? rowsWithSql(relation.set, filter, values) : relationSql(relation)
}

/** `begin`: the condition on rows from a position on. */
function whereSql({ filter }: BoundQuery, begin: Sql | null): Sql {
  const conditions = [
    ...(filter === null ? [] : [sql`(${conditionSql(filter)})`]),
    ...(begin === null ? [] : [begin]),
  ]
  return conditions.length === 0 ? sql.empty : sql` WHERE ${sql.all(conditions)}`
}

function windowSql(query: BoundQuery, window: RowWindow): Sql {
  const { rows, skipped } = boundsOf(query, window)
  const limitSql = rows === null ? sql.empty : sql` LIMIT ${sql.value(rows, BIGINT)}`
  return skipped === 0 ? limitSql : sql`${limitSql} OFFSET ${sql.value(skipped, BIGINT)}`
}

/**
 * `rows`: at most; null: all, also where the set has no more: DuckDB takes as long for the LIMIT of a small set as for its
 * rows. `skipped`: those that lie between the beginning and them.
 */
function boundsOf({ relation, skip, top }: BoundQuery, { offset, limit, keyset }: RowWindow) {
  const most = Math.min(top === null ? Infinity : Math.max(0, top - offset), limit ?? Infinity)
  const hasMore = relation.kind === 'set' ? most < relation.set.relation.rows : most < Infinity
  const isPlaced = keyset != null && keyset.from !== null
  const skipped = isPlaced ? 0 : Math.min(skip + offset, Number.MAX_SAFE_INTEGER)
  return { rows: hasMore ? most : null, skipped }
}

/** The value of the only property as one text, after a comma; of NULL no comma. */
export function rawTextsSql(query: BoundQuery): Sql {
  const [{ name, type }] = query.output as readonly [OutputProperty]
  const isPlace = isGeoName(type.name)
  const value = sql.ident('page', name)
  const [comma, none] = [',', '0'].map((text) => sql.value(text, isPlace ? VARCHAR : type.engine))
  const rows = rowsSql(query, { offset: 0, limit: 1 })
  return sql`SELECT coalesce(${comma!} || ${isPlace ? placeTextSql(value) : value}, ${none!}) FROM (${rows}) AS page`
}
