// What exists in an open database.

import { type Column, columnType } from '../core/relation.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { Connection } from './database.ts'

export type RelationType = 'table' | 'view'

/** Tables and views of the main database by name. Letter case does not distinguish names, as in the engine. */
export class Catalog {
  /** The engine's name of the main database: that of its file, without the extension. */
  readonly database: string
  readonly #types: Map<string, RelationType>

  constructor(database: string, types: Map<string, RelationType>) {
    this.database = database
    this.#types = types
  }

  typeOf(schema: string, table: string): RelationType | null {
    return this.#types.get(key(schema, table)) ?? null
  }

  /** To be told after each DDL statement of this process. */
  set(schema: string, table: string, type: RelationType): void {
    this.#types.set(key(schema, table), type)
  }
}

const key = (schema: string, table: string) => `${schema}.${table}`.toLowerCase()

export async function readCatalog(connection: Connection): Promise<Catalog> {
  const main = await connection.row(sql`SELECT current_database() AS name`)
  const rows = await connection.rows(sql`
    SELECT schema_name AS schema, table_name AS name, 'table' AS type FROM duckdb_tables()
    WHERE database_name = current_database()
    UNION ALL
    SELECT schema_name, view_name, 'view' FROM duckdb_views()
    WHERE database_name = current_database() AND NOT internal`)
  const types = rows.map(({ schema, name, type }): [string, RelationType] => [
    key(String(schema), String(name)),
    type === 'view' ? 'view' : 'table',
  ])
  return new Catalog(String(main?.['name']), new Map(types))
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
    name: String(name),
    type: columnType(String(type)),
    nullable: true,
  }))
}
