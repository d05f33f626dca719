// Numbers of tables on servers that the engine reads as 0: NaN and infinities of a numeric of PostgreSQL. Nothing that
// it reads tells them from a 0, so the server is asked, before a query reads them and in its transaction. It is asked for
// what the query reads and no more: the plan of the query names the columns, and the filters that the server is given. A
// query that reads a few rows of a large table by an index then has the server look at those alone.

import type { Explanation } from '../hints/engine-words.ts'
import { limits } from '../../core/limits.ts'
import { sameName } from '../../core/names.ts'
import { type ColumnType, columnType } from '../../core/relation.ts'
import type { ExternalSource, ExternalTable } from '../../core/sources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import { askServer } from './exact-numbers.ts'
import { sourceAccess } from './kinds.ts'
import { type Scan, scansOf } from './server-scans.ts'
import { attachedName, type ZeroedColumn, type ZeroedNumbers } from './source-access.ts'

interface ReadTable {
  readonly source: ExternalSource
  readonly table: ExternalTable
  readonly zeroed: ZeroedNumbers & { readonly query: Sql }
  readonly scan: Scan
}

/**
 * Why a query must not be run: it would read such a number; null: it would not. `tables`: those of sources that it can
 * read, as `source.table`. `query` is made only where one of these may hold such a number. Throws DatabaseError, also for
 * what the query itself would throw.
 */
export async function lostNumber(
  connection: Connection,
  sources: readonly ExternalSource[],
  tables: ReadonlySet<string>,
  query: () => Promise<Sql>,
): Promise<Explanation | null> {
  const candidates = sources.flatMap((source) => {
    const { zeroed } = sourceAccess[source.kind]
    if (zeroed === undefined) return []
    const own = source.tables.filter(({ name }) => tables.has(`${source.name}.${name}`))
    return own.map((table) => ({ source, table, zeroed }))
  })
  if (candidates.length === 0) return null
  // What cannot be bound says so, with its place, when it is run.
  const scans = await ifRefused(scansOf(connection, await query()), (error) => {
    if (['Binder', 'Catalog', 'Parser'].includes(error.details.type)) return []
    throw error
  })
  for (const scan of scans)
    for (const candidate of candidates) {
      // The plan names no schema: a table of that name in another source is looked at, too.
      if (candidate.source.kind !== scan.kind || !sameName(candidate.table.name, scan.table))
        continue
      const found = await lostIn(connection, { ...candidate, scan })
      if (found !== null) return found
    }
  return null
}

async function lostIn(connection: Connection, read: ReadTable): Promise<Explanation | null> {
  const { source, table, scan } = read
  const columns = (await zeroedColumns(connection, read)).filter(({ name }) =>
    scan.columns.includes(name),
  )
  const { filters } = scan
  const isAsked = (column: ZeroedColumn) => filters.length > 0 && !column.isList
  const name =
    (await lostBehind(connection, read, columns.filter(isAsked))) ??
    (await lostAnywhere(
      connection,
      read,
      columns.filter((column) => !isAsked(column)),
    ))
  if (name === undefined) return null
  const place = `${source.name}.${table.name}`
  return {
    problem: `${place}.${name} has a number that is NaN or infinite, which DuckDB reads as 0`,
    hint: `read a view instead of ${table.name}, with NULLIF(${name}, 'NaN') AS ${name}`,
  }
}

async function zeroedColumns(
  connection: Connection,
  { source, table, zeroed }: ReadTable,
): Promise<readonly ZeroedColumn[]> {
  const asked = zeroed.columns(source.schema, table.name)
  const rows = await connection.rows(sql`FROM ${askServer(zeroed.query, source, asked)}`)
  return rows.map((row) => ({
    name: textOf(row['name']),
    isList: row['is_list'] === true,
    hasPrecision: row['has_precision'] === true,
    schema: textOf(row['schema']),
    relation: textOf(row['relation']),
    pages: numberOf(row['pages']),
  }))
}

/**
 * Among rows that the filters of the scan leave, one of these columns that has such a number. The engine asks as it does
 * for the query itself, so that an index helps: to PostgreSQL, NaN and Infinity are greater than any value of the type.
 */
async function lostBehind(
  connection: Connection,
  { source, table, scan }: ReadTable,
  columns: readonly ZeroedColumn[],
): Promise<string | undefined> {
  if (columns.length === 0) return undefined
  const name = sql.ident(attachedName(source), source.schema, table.name)
  const types = await describe(connection, sql`FROM ${name}`)
  for (const column of columns) {
    const type = types.find((one) => one.name === column.name)?.type
    if (type === undefined) continue
    for (const isBeyond of beyond(column, columnType(type))) {
      const query = sql`SELECT 1 AS found FROM ${name} WHERE ${sql.all([...scan.filters, isBeyond])} LIMIT 1`
      if ((await connection.literalRows(query)).length > 0) return column.name
    }
  }
  return undefined
}

/** One at a time: two of which one holds the engine looks at again, when it has made 0 of the number. */
function beyond({ name, hasPrecision }: ZeroedColumn, type: ColumnType): readonly Sql[] {
  const value = sql.ident(name)
  const greatest = greatestOf(type)
  const isGreater = sql`${value} > ${sql.value(greatest, type)}`
  return hasPrecision
    ? [isGreater]
    : [isGreater, sql`${value} < ${sql.value(`-${greatest}`, type)}`]
}

/** The digits of the greatest value of a DECIMAL, or that of a DOUBLE. */
function greatestOf(type: string): string {
  const [, digits, scale] = /^DECIMAL\((\d+),\s*(\d+)\)$/.exec(type) ?? []
  if (digits === undefined) return '1.7976931348623157e308'
  const [whole, places] = [Number(digits) - Number(scale), Number(scale)]
  return `${'9'.repeat(whole) || '0'}${places === 0 ? '' : `.${'9'.repeat(places)}`}`
}

/**
 * In the whole relation. All columns in one pass over it, and a part of it in each statement, none of which takes long:
 * a statement has a time limit, and the engine reads a large table by parts, too.
 */
async function lostAnywhere(
  connection: Connection,
  { source, zeroed }: ReadTable,
  columns: readonly ZeroedColumn[],
): Promise<string | undefined> {
  const [first] = columns
  if (first === undefined) return undefined
  const relation = sql.ident(first.schema, first.relation)
  const each = columns.map((column) => zeroed.isZeroed(column))
  const found = columns.map(
    ({ name }, i) => sql`coalesce(bool_or(${each[i]!}), false) AS ${sql.ident(name)}`,
  )
  const step = limits.sourcePagesAtOnce
  for (let page = 0; ; page += step) {
    const isLast = page + step >= first.pages
    const where = [
      sql`(${sql.any(each)})`,
      ...(page === 0 ? [] : [zeroed.fromPage(page)]),
      // The table may have grown since its pages were counted.
      ...(isLast ? [] : [zeroed.beforePage(page + step)]),
    ]
    const asked = sql`SELECT ${sql.join(found)} FROM ${relation} WHERE ${sql.all(where)}`
    const [row] = await connection.rows(sql`FROM ${askServer(zeroed.query, source, asked)}`)
    const lost = columns.find(({ name }) => row?.[name] === true)
    if (lost !== undefined || isLast) return lost?.name
  }
}
