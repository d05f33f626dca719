// Numbers of tables on servers: each is as it is there, or an error when it is read.

import { columnType } from '../../core/relation.ts'
import type { ExternalSource, ExternalTable } from '../../core/sources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'
import { SourceProblem } from './problems.ts'
import { attachedName } from './source-access.ts'

export interface NumberDialect {
  /** The function of the engine that runs a query there. */
  readonly query: Sql
  /** Name and type of each column whose values are no DECIMAL of the engine. */
  readonly inexactColumns: (schema: string, table: string) => Sql
}

/**
 * The query of a table in which a number that the engine cannot hold is an error. Throws SourceProblem where `columns`
 * names a column that needs no type.
 */
export async function selectExactly(
  connection: Connection,
  dialect: NumberDialect,
  source: ExternalSource,
  table: ExternalTable,
): Promise<Sql> {
  const name = sql.ident(attachedName(source), source.schema, table.name)
  const inexact = await inexactColumns(connection, dialect, source, table)
  if (inexact.size === 0) return sql`SELECT * FROM ${name}`
  const replaced = [...inexact].map(
    ([column, type]) => sql`${exactNumber(source, table, column, type)} AS ${sql.ident(column)}`,
  )
  return sql`SELECT * REPLACE (${sql.join(replaced)}) FROM ${name}`
}

/** `asked`: in the words of the server. */
export const askServer = (query: Sql, source: Pick<ExternalSource, 'name'>, asked: Sql): Sql =>
  sql`${query}(${sql.value(attachedName(source))}, ${sql.value(asked.inline())})`

/** Their types by name. */
async function inexactColumns(
  connection: Connection,
  dialect: NumberDialect,
  source: ExternalSource,
  table: ExternalTable,
): Promise<ReadonlyMap<string, string>> {
  const asked = dialect.inexactColumns(source.schema, table.name)
  const rows = await connection.rows(sql`FROM ${askServer(dialect.query, source, asked)}`)
  const inexact = new Map(rows.map((row) => [textOf(row['name']), textOf(row['type'])]))
  const needless = [...(table.columns?.keys() ?? [])].find((column) => !inexact.has(column))
  if (needless !== undefined)
    throw new SourceProblem({
      problem: `${source.name}.${table.name}.${needless} needs no type, or is no column of the table`,
      hint: `leave ${needless} out of "columns", which is for a numeric that has no precision, or more than 38 digits`,
    })
  return inexact
}

/**
 * A number that no DECIMAL of the engine can hold arrives as a DOUBLE, and its digits are lost. eider.yml says which type
 * it has all the same.
 */
function exactNumber(
  { name: source }: ExternalSource,
  { name, columns }: ExternalTable,
  column: string,
  type: string,
): Sql {
  const value = sql.ident(column)
  const declared = columns?.get(column)
  if (declared === 'DOUBLE') return value
  const place = `${source}.${name}.${column}`
  // Of arrays and of fields eider.yml can only say that their digits may be lost.
  const isNumber = /^(?:numeric|decimal)\b[^[]*$/.test(type)
  if (declared !== undefined && isNumber) {
    const number = sql`TRY_CAST(${value} AS ${sql.type(columnType(declared))})`
    const message = sql`${sql.value(`${place} has the number `)} || ${value}::VARCHAR || ${sql.value(`, which is no ${declared}`)}`
    return sql`CASE WHEN ${number}::DOUBLE IS DISTINCT FROM ${value} THEN error(${message}) ELSE ${number} END`
  }
  const message = `${place} is ${lossOf(type)} would be lost: name its type under "columns" of the table in eider.yml, such as ${column}: ${isNumber ? 'DECIMAL(15, 2)' : 'DOUBLE'}`
  return sql`CASE WHEN ${value} IS NULL THEN ${value} ELSE error(${sql.value(message)}) END`
}

function lossOf(type: string): string {
  if (!/^(?:numeric|decimal)\b/.test(type)) return `a ${type} with a numeric in it, whose digits`
  return `a ${type}${type.includes('(') ? '' : ' without a precision'}, whose digits`
}
