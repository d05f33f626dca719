// What exists in an open database.

import { foldCase } from '../core/names.ts'
import { type Column, columnType } from '../core/relation.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { Connection } from './database.ts'
import { textOf } from './values.ts'

export type RelationType = 'table' | 'view'

export interface EngineCatalog {
  /** DuckDB's name of the main database: that of its file, without the extension. */
  readonly database: string
  /** Tables and views by catalogKey(). */
  readonly relations: Map<string, RelationType>
  /** Columns of relations as earlier runs left them, where they were read together. */
  readonly columns?: Map<string, readonly Column[]>
  /** About how many rows tables have, where that is known; rows that were deleted may count too. */
  readonly rows?: Map<string, number>
}

/** Case does not distinguish names in DuckDB. */
export const catalogKey = (schema: string, table: string): string => foldCase(`${schema}.${table}`)

export async function readEngineCatalog(connection: Connection): Promise<EngineCatalog> {
  const rows = await connection.texts(sql`
    SELECT '' AS schema, current_database() AS name, 'database' AS type, NULL AS "rows"
    UNION ALL
    SELECT schema_name, table_name, 'table', CAST(estimated_size AS VARCHAR) FROM duckdb_tables()
    WHERE database_name = current_database()
    UNION ALL
    SELECT schema_name, view_name, 'view', NULL FROM duckdb_views()
    WHERE database_name = current_database() AND NOT internal`)
  const main = rows.find(({ type }) => type === 'database')
  const others = rows.filter((row) => row !== main)
  const relations = others.map(({ schema, name, type }): [string, RelationType] => [
    catalogKey(textOf(schema), textOf(name)),
    type === 'view' ? 'view' : 'table',
  ])
  const sizes = others.flatMap(({ schema, name, rows: size }): [string, number][] =>
    size == null ? [] : [[catalogKey(textOf(schema), textOf(name)), Number(size)]],
  )
  return {
    database: textOf(main?.['name']),
    relations: new Map(relations),
    columns: new Map(),
    rows: new Map(sizes),
  }
}

/** Of all tables, in one query: each of them alone takes as long as a small model. Call this before any is changed. */
export async function readAllColumns(
  connection: Connection,
  { columns }: EngineCatalog,
): Promise<void> {
  if (columns === undefined || columns.size > 0) return
  const rows = await connection.texts(sql`
    SELECT schema_name AS schema, table_name AS name,
      list({'name': column_name, 'type': data_type} ORDER BY column_index) AS columns
    FROM duckdb_columns() WHERE database_name = current_database() AND NOT internal GROUP BY ALL`)
  for (const { schema, name, columns: found } of rows as unknown as readonly FoundColumns[])
    columns.set(
      catalogKey(schema, name),
      found.map((one) => ({ name: one.name, type: columnType(one.type), nullable: true })),
    )
}

interface FoundColumns {
  readonly schema: string
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
}

/**
 * Columns of a table, view or query in order. Unlike a prepared statement, DESCRIBE keeps the names of types that are
 * other types underneath, such as JSON.
 */
export async function describe(connection: Connection, query: Sql): Promise<readonly Column[]> {
  const rows = await connection.rows(
    sql`SELECT column_name AS name, column_type AS type FROM (DESCRIBE ${query})`,
  )
  return rows.map(({ name, type }) => ({
    name: textOf(name),
    type: columnType(textOf(type)),
    nullable: true,
  }))
}
