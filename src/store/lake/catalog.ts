// What exists in a lake. `duckdb_tables()` would ask PostgreSQL twice for each table how many rows it has.

import { STORED_SCHEMA } from '../../core/lake.ts'
import { foldCase } from '../../core/names.ts'
import { type Column, columnType } from '../../core/relation.ts'
import { sql } from '../../core/sql.ts'
import { type EngineCatalog, catalogKey, type RelationType } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'

export async function readLakeCatalog(connection: Connection): Promise<EngineCatalog> {
  const main = await connection.row(sql`SELECT current_database() AS name`)
  const rows = await connection.rows(sql`
    SELECT schema_name AS schema, table_name AS name,
      list({'name': column_name, 'type': data_type} ORDER BY column_index) AS columns
    FROM duckdb_columns() WHERE database_name = current_database() AND NOT internal GROUP BY ALL`)
  const views = await connection.rows(sql`
    SELECT schema_name AS schema, view_name AS name FROM duckdb_views()
    WHERE database_name = current_database() AND NOT internal`)
  const keyOf = (row: (typeof rows)[number]) =>
    catalogKey(textOf(row['schema']), textOf(row['name']))
  const relations = new Map<string, RelationType>(rows.map((row) => [keyOf(row), 'table']))
  for (const view of views) relations.set(keyOf(view), 'view')
  for (const { schema, name } of rows)
    if (schema === STORED_SCHEMA) relations.set(foldCase(textOf(name)), 'table')
  const columns = new Map(rows.map((row) => [keyOf(row), columnsOf(row['columns'])]))
  return { database: textOf(main?.['name']), relations, columns }
}

function columnsOf(value: unknown): readonly Column[] {
  const list = value as readonly { readonly name: string; readonly type: string }[]
  return list.map(({ name, type }) => ({ name, type: columnType(type), nullable: true }))
}
