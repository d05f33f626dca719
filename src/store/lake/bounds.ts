// DuckLake keeps the smallest and the largest value of each column of a table in its catalog. They become wider with each row
// that comes, and stay as wide where all rows of a file go: no row may have such a value any more.

import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'
import { STATE_SCHEMA } from '../state.ts'
import { catalogTable } from './upkeep.ts'

/**
 * Columns, as `schema.table.column`, with a bound that no file of their table has, once deleted rows have been written out. Of
 * Booleans nothing is said, nor of the tables of Eider itself: their newest rows are in no file yet, and nobody can make them
 * from nothing.
 */
export async function wideBounds(
  connection: Connection,
  schema: string,
): Promise<readonly string[]> {
  const of = (name: string): Sql => catalogTable(schema, name)
  // The text of a DECIMAL has the decimal places that its column had then.
  const valueOf = (bound: Sql) => sql`
    CASE WHEN c.column_type LIKE 'decimal%' AND contains(${bound}, '.') THEN rtrim(rtrim(${bound}, '0'), '.') ELSE ${bound} END`
  const isIn = (bound: string) => sql`EXISTS (
    SELECT 1 FROM ${of('ducklake_file_column_stats')} s
    JOIN ${of('ducklake_data_file')} f ON f.data_file_id = s.data_file_id AND f.end_snapshot IS NULL
    WHERE s.table_id = b.table_id AND s.column_id = b.column_id AND ${valueOf(sql`s.${sql.ident(bound)}`)} = ${valueOf(sql`b.${sql.ident(bound)}`)})`
  const isWide = (bound: string) => sql`(b.${sql.ident(bound)} IS NOT NULL AND NOT ${isIn(bound)})`
  const rows = await connection.rows(sql`
    SELECT DISTINCT n.schema_name || '.' || t.table_name || '.' || c.column_name AS name
    FROM ${of('ducklake_table_column_stats')} b
    JOIN ${of('ducklake_table')} t ON t.table_id = b.table_id AND t.end_snapshot IS NULL
    JOIN ${of('ducklake_schema')} n ON n.schema_id = t.schema_id AND n.end_snapshot IS NULL
    JOIN ${of('ducklake_column')} c ON c.table_id = b.table_id AND c.column_id = b.column_id AND c.end_snapshot IS NULL
    WHERE (${isWide('min_value')} OR ${isWide('max_value')}) AND c.column_type <> 'boolean'
      AND n.schema_name <> ${sql.value(STATE_SCHEMA)} ORDER BY name`)
  return rows.map(({ name }) => textOf(name))
}
