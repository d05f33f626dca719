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
  /** Of columns that may hold what the engine reads as 0, such as NaN. */
  readonly zeroed?: ZeroedNumbers
}

interface ZeroedNumbers {
  /** The columns: `schema` and `relation` as they are written there, `name`, and `is_list`. */
  readonly columns: (schema: string, table: string) => Sql
  /** Whether any value of the column is one of these; an aggregate of the server. */
  readonly hasAny: (column: Sql, isList: boolean) => Sql
}

interface ZeroedColumn {
  readonly name: string
  readonly isList: boolean
  readonly relation: Sql
}

/** Names that stand beside those of columns of the table, and hide none of them. */
const READ = '_eider_read'
const ZEROED = '_eider_zeroed'

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
  const zeroed = await zeroedColumns(connection, dialect, source, table)
  // One that has no type yet is refused for that.
  const checked = zeroed.filter(
    (column) => !inexact.has(column.name) || table.columns?.has(column.name) === true,
  )
  const isChecked = new Map(checked.map((column) => [column.name, column]))
  const replaced = [...new Set([...inexact.keys(), ...isChecked.keys()])].map((column) => {
    const type = inexact.get(column)
    const value = sql.ident(READ, column)
    const exact = type === undefined ? value : exactNumber(source, table, column, type)
    const ofZero = isChecked.get(column)
    const whole =
      ofZero === undefined ? exact : refuseZeroed(`${source.name}.${table.name}`, ofZero, exact)
    return sql`${whole} AS ${sql.ident(column)}`
  })
  if (replaced.length === 0) return sql`SELECT * FROM ${name}`
  const rows = sql`SELECT ${sql.ident(READ)}.* REPLACE (${sql.join(replaced)}) FROM ${name} AS ${sql.ident(READ)}`
  const [first] = checked
  if (first === undefined) return rows
  // The server answers in the transaction in which the rows are read, once for all columns.
  const found = checked.map(
    (column) =>
      sql`${dialect.zeroed!.hasAny(sql.ident(column.name), column.isList)} AS ${sql.ident(column.name)}`,
  )
  const asked = sql`SELECT ${sql.join(found)} FROM ${first.relation}`
  return sql`${rows} CROSS JOIN ${askServer(dialect, source, asked)} AS ${sql.ident(ZEROED)}`
}

const askServer = ({ query }: NumberDialect, source: ExternalSource, asked: Sql): Sql =>
  sql`${query}(${sql.value(attachedName(source))}, ${sql.value(asked.inline())})`

/** Their types by name. */
async function inexactColumns(
  connection: Connection,
  dialect: NumberDialect,
  source: ExternalSource,
  table: ExternalTable,
): Promise<ReadonlyMap<string, string>> {
  const asked = dialect.inexactColumns(source.schema, table.name)
  const rows = await connection.rows(sql`FROM ${askServer(dialect, source, asked)}`)
  const inexact = new Map(rows.map((row) => [textOf(row['name']), textOf(row['type'])]))
  const needless = [...(table.columns?.keys() ?? [])].find((column) => !inexact.has(column))
  if (needless !== undefined)
    throw new SourceProblem({
      problem: `${source.name}.${table.name}.${needless} needs no type, or is no column of the table`,
      hint: `leave ${needless} out of "columns", which is for a numeric that has no precision, or more than 38 digits`,
    })
  return inexact
}

async function zeroedColumns(
  connection: Connection,
  dialect: NumberDialect,
  source: ExternalSource,
  table: ExternalTable,
): Promise<readonly ZeroedColumn[]> {
  if (dialect.zeroed === undefined) return []
  const asked = dialect.zeroed.columns(source.schema, table.name)
  const rows = await connection.rows(sql`FROM ${askServer(dialect, source, asked)}`)
  return rows.map((row) => ({
    name: textOf(row['name']),
    isList: row['is_list'] === true,
    relation: sql.ident(textOf(row['schema']), textOf(row['relation'])),
  }))
}

/** A value that was read as 0, while the column has one that the engine reads so, may be that one. */
function refuseZeroed(table: string, { name, isList }: ZeroedColumn, exact: Sql): Sql {
  const value = sql.ident(READ, name)
  const mayBe = isList ? sql`${value} IS NOT NULL` : sql`${value} = 0`
  const such = isList ? '' : `, such as one with NULLIF(${name}, 'NaN')`
  const message = `${table}.${name} has a number that is NaN or infinite, which cannot be read: name a view without it instead${such}`
  return sql`CASE WHEN ${mayBe} AND ${sql.ident(ZEROED, name)} THEN error(${sql.value(message)}) ELSE ${exact} END`
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
  const value = sql.ident(READ, column)
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
