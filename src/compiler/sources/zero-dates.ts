// Dates of MySQL without a month or a day, such as 2026-01-00: the engine refuses them and does not say where they are.

import type { Explanation } from '../hints/engine-words.ts'
import { sameName } from '../../core/names.ts'
import type { ExternalSource, ExternalTable } from '../../core/sources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'
import { mysql } from './mysql.ts'
import { scansOf } from './server-scans.ts'
import { attachedName } from './source-access.ts'

/**
 * Which column has such a date, of those that the query reads; null: the error is about something else. `tables`: those of
 * sources that it can read. Throws DatabaseError.
 */
export async function zeroDate(
  connection: Connection,
  sources: readonly ExternalSource[],
  tables: ReadonlySet<string>,
  { query, message }: { readonly query: Sql; readonly message: string },
): Promise<Explanation | null> {
  if (!/date.* out of range/i.test(message)) return null
  const candidates = sources.flatMap((source) =>
    source.kind === 'mysql' ? source.tables.map((table) => ({ source, table })) : [],
  )
  const read = candidates.filter(({ source, table }) => tables.has(`${source.name}.${table.name}`))
  if (read.length === 0) return null
  for (const scan of await scansOf(connection, query))
    for (const { source, table } of read) {
      if (scan.kind !== 'mysql' || !sameName(table.name, scan.table)) continue
      const found = await zeroDateIn(connection, source, table, scan.columns)
      if (found !== null) return found
    }
  return null
}

async function zeroDateIn(
  connection: Connection,
  source: ExternalSource,
  table: ExternalTable,
  columns: readonly string[],
): Promise<Explanation | null> {
  const types = await describe(
    connection,
    sql`FROM ${sql.ident(attachedName(source), source.schema, table.name)}`,
  )
  for (const { name, type } of types) {
    if (!columns.includes(name) || !/^(?:DATE|TIMESTAMP)/.test(type)) continue
    // It prints names in quotes that MySQL takes for those of texts.
    const asked = `SELECT CAST(${inMySql(name)} AS CHAR) AS value FROM ${inMySql(table.name)}
      WHERE CAST(${inMySql(name)} AS CHAR) REGEXP '^[0-9]+-(00-|[0-9]+-00)' AND CAST(${inMySql(name)} AS CHAR) NOT LIKE '0000-00-00%' LIMIT 1`
    const query = sql`${mysql.query}(${sql.value(attachedName(source))}, ${sql.value(asked)})`
    const row = await connection.row(sql`FROM ${query}`)
    if (row === null) continue
    return {
      problem: `${source.name}.${table.name}.${name} has ${textOf(row['value'])}, a date without a month or a day`,
      hint: `read a view instead of ${table.name}, with IF(MONTH(${name}) * DAYOFMONTH(${name}) = 0, NULL, ${name}) AS ${name}`,
    }
  }
  return null
}

const inMySql = (name: string) => `\`${name.replaceAll('`', '``')}\``
