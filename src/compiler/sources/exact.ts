// Columns of servers whose values the engine would change on the way. Nothing is wrong as long as nobody reads them.

import type { ExternalSource, ExternalTable } from '../../core/external.ts'
import { columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'
import { attachedName } from './servers.ts'

interface InexactColumn {
  readonly name: string
  readonly type: string
}

/** The rows of a table, of which each value is as it is there, or an error when it is read. */
export async function exactColumns(
  connection: Connection,
  source: ExternalSource,
  table: ExternalTable,
): Promise<Sql> {
  const replaced = (await inexactColumns(connection, source, table)).map(
    (column) => sql`${refused(source, table, column)} AS ${sql.ident(column.name)}`,
  )
  return replaced.length === 0 ? sql`*` : sql`* REPLACE (${sql.join(replaced)})`
}

/** What is no DECIMAL of the engine arrives as a DOUBLE, and its digits are lost. */
async function inexactColumns(
  connection: Connection,
  source: ExternalSource,
  { name }: ExternalTable,
): Promise<readonly InexactColumn[]> {
  const { system, schema } = source
  if (system !== 'postgres' && system !== 'mysql') return []
  const query = system === 'postgres' ? inPostgres(schema, name) : inMysql(schema, name)
  const [attached, text] = [sql.value(attachedName(source)), sql.value(query.inline())]
  const rows = await connection.rows(
    system === 'postgres'
      ? sql`FROM postgres_query(${attached}, ${text})`
      : sql`FROM mysql_query(${attached}, ${text})`,
  )
  return rows.map((row) => ({ name: textOf(row['name']), type: textOf(row['type']) }))
}

/**
 * Also of arrays, and of materialized views, which information_schema leaves out. The type modifier of a numeric is its
 * precision and its scale, which may be negative or greater than the precision. A domain arrives as text.
 */
const inPostgres = (schema: string, table: string) => sql`
  SELECT name, type FROM (
    SELECT a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, a.atttypmod AS modifier,
      ((a.atttypmod - 4) >> 16) & 65535 AS digits, (((a.atttypmod - 4) & 2047) # 1024) - 1024 AS scale
    FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE lower(n.nspname) = lower(${sql.value(schema)}) AND lower(c.relname) = lower(${sql.value(table)})
      AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid IN ('numeric'::regtype, 'numeric[]'::regtype)
  ) AS numbers
  WHERE modifier < 4 OR digits > 38 OR scale < 0 OR scale > digits`

const inMysql = (schema: string, table: string) => sql`
  SELECT column_name AS name, column_type AS type FROM information_schema.columns
  WHERE table_schema = ${sql.value(schema)} AND table_name = ${sql.value(table)}
    AND data_type = 'decimal' AND numeric_precision > 38`

function refused(
  { name: source }: ExternalSource,
  { name }: ExternalTable,
  { name: column, type }: InexactColumn,
): Sql {
  const what = type.includes('(') ? `a ${type}` : `a ${type} without a precision`
  const message = `${source}.${name}.${column} is ${what}, whose digits would be lost: read a view of the database that casts it, such as CAST(${column} AS numeric(18, 2))`
  const as = sql.type(columnType(type.endsWith('[]') ? 'DOUBLE[]' : 'DOUBLE'))
  return sql`CASE WHEN ${sql.ident(column)} IS NULL THEN NULL ELSE error(${sql.value(message)}) END::${as}`
}
