// Sources in DuckDB: each is a separate catalog in memory with a view for each of its tables, so that a model
// says `crm.customers` whether that is a table of another database or a file. Databases are attached for reading only.

import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import {
  type CompiledExternal,
  extensionOf,
  type ExternalSource,
  type ExternalTable,
  type SourceServer,
  type SourceSystem,
} from '../core/external.ts'
import { limits } from '../core/limits.ts'
import { sameName } from '../core/names.ts'
import { type Sql, sql } from '../core/sql.ts'
import { didYouMean } from '../core/suggest.ts'
import { headerOfFile } from './csv/scan.ts'
import { describe } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { DatabaseError } from '../duckdb/errors.ts'
import { ExtensionError } from '../duckdb/extension-files.ts'
import { textOf } from '../duckdb/values.ts'
import { problemOf } from './explain/engine-words.ts'
import { withoutDir } from './places.ts'
import { readerOf, verbatim } from './seed.ts'

interface Attached {
  readonly tables: readonly CompiledExternal[]
  /** Why a declared table cannot be read, by its name; one diagnostic for all tables of a source that is missing. */
  readonly away: ReadonlyMap<string, Diagnostic>
}

/** The tables of a source without their columns. */
export function declaredTables({
  name: source,
  database,
  tables,
}: ExternalSource): readonly Omit<CompiledExternal, 'columns'>[] {
  return tables.map((table) => {
    const { name, file, checks: _, ...rest } = table
    return { ...rest, name: `${source}.${name}`, path: file ?? database ?? '' }
  })
}

/** Attaches the sources to the database of the connection, for all of its connections. `dir` is the project directory. */
export async function attachSources(
  connection: Connection,
  dir: string,
  sources: readonly ExternalSource[],
): Promise<Attached> {
  const tables: CompiledExternal[] = []
  const away = new Map<string, Diagnostic>()
  for (const source of sources) {
    const declared = declaredTables(source)
    try {
      await attach(connection, dir, source)
    } catch (error) {
      const wrong = unusable(error, dir, source, source.name, source.span)
      for (const { name } of declared) away.set(name, wrong)
      continue
    }
    for (const [i, table] of source.tables.entries()) {
      const { name, ...rest } = declared[i]!
      try {
        const columns = await createView(connection, dir, source, table)
        const compiled = { ...rest, name, columns }
        const wrong = wrongTime(compiled, source)
        if (wrong === null) tables.push(compiled)
        else away.set(name, wrong)
      } catch (error) {
        away.set(name, unusable(error, dir, source, name, table.span))
      }
    }
  }
  return { tables, away }
}

const databaseOf = ({ name }: ExternalSource) => sql.ident(`_eider_source_${name}`)

async function attach(connection: Connection, dir: string, source: ExternalSource): Promise<void> {
  const { name, database, system } = source
  const extension = extensionOf(system)
  if (extension !== null) await connection.loadExtensions([extension])
  if (source.server !== null) await attachServer(connection, source, source.server)
  else if (database !== null) {
    const problem = await foreignFormat(resolve(dir, database), system)
    if (problem !== null) throw new SourceProblem(problem.problem, problem.hint)
    const path = sql.value(resolve(dir, database))
    const type = system === 'sqlite' ? sql`TYPE sqlite, ` : sql.empty
    await connection.run(sql`ATTACH ${path} AS ${databaseOf(source)} (${type}READ_ONLY)`)
  }
  await connection.run(sql`ATTACH ':memory:' AS ${sql.ident(name)} (READ_WRITE)`)
}

/** The password goes into a secret: errors repeat what is attached. */
async function attachServer(
  connection: Connection,
  source: ExternalSource,
  { host, port, user, database, password }: SourceServer,
): Promise<void> {
  const secret = sql.ident(`_eider_source_${source.name}`)
  const type = source.system === 'postgres' ? sql`postgres` : sql`mysql`
  const parts = [
    sql`TYPE ${type}`,
    sql`HOST ${sql.value(host)}`,
    sql`PORT ${sql.value(String(port))}`,
    sql`USER ${sql.value(user)}`,
    sql`DATABASE ${sql.value(database)}`,
    ...(password === null ? [] : [sql`PASSWORD ${sql.value(password)}`]),
  ]
  await connection.run(sql`CREATE OR REPLACE SECRET ${secret} (${sql.join(parts)})`)
  const { sourceConnectSeconds, sourceStatementMs } = limits
  const how =
    source.system === 'mysql'
      ? ''
      : `connect_timeout=${sourceConnectSeconds} options='-c statement_timeout=${sourceStatementMs}'`
  await connection.run(
    sql`ATTACH ${sql.value(how)} AS ${databaseOf(source)} (TYPE ${type}, SECRET ${secret}, READ_ONLY)`,
  )
}

/** What DuckDB would try to install, or take for an empty database. A missing file is left for DuckDB to report. */
async function foreignFormat(path: string, system: SourceSystem): Promise<Reason | null> {
  const file = await open(path).catch(() => null)
  if (file === null) return null
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0)
    const head = buffer.subarray(0, bytesRead).toString('latin1')
    const isSqlite = head.startsWith('SQLite format 3')
    if (system === 'sqlite')
      return isSqlite || bytesRead === 0
        ? null
        : { problem: 'it is not an SQLite database', hint: 'write database: for a DuckDB file' }
    if (isSqlite)
      return { problem: 'it is an SQLite database', hint: 'write sqlite: in place of database:' }
    return head.slice(8, 12) === 'DUCK'
      ? null
      : {
          problem: 'it is not a DuckDB database',
          hint: 'a data file goes under tables, as file: data/x.csv',
        }
  } finally {
    await file.close()
  }
}

interface Reason {
  readonly problem: string
  readonly hint: string
}

class SourceProblem extends Error {
  readonly hint: string
  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}

async function createView(
  connection: Connection,
  dir: string,
  source: ExternalSource,
  table: ExternalTable,
): Promise<CompiledExternal['columns']> {
  const view = sql.ident(source.name, 'main', table.name)
  const rows = rowsOf(dir, source, table)
  const inexact = await inexactColumns(connection, source, table)
  const replaced = inexact.map(
    (column) => sql`${refused(source, table, column)} AS ${sql.ident(column)}`,
  )
  const all = replaced.length === 0 ? sql`*` : sql`* REPLACE (${sql.join(replaced)})`
  await connection.run(sql`CREATE VIEW ${view} AS SELECT ${all} FROM ${rows}`)
  const columns = await describe(connection, sql`FROM ${view}`)
  if (table.file !== null) await refuseLostHeader(resolve(dir, table.file), table.file, columns)
  return columns
}

/**
 * DuckDB finds out by itself how a CSV file is laid out. Where rows have more fields than the header it takes the
 * header for a row, or all of a line for one column, and says nothing.
 */
async function refuseLostHeader(
  path: string,
  file: string,
  columns: CompiledExternal['columns'],
): Promise<void> {
  if (!/\.(?:csv|tsv)$/i.test(file) || statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    return
  const header = await headerOfFile(path)
  const names = columns.map(({ name }) => name)
  const isOne = names.length === 1 && names[0]!.includes(header.delimiter)
  const isLost = names.every((name, i) => name === `column${i}`) && header.columns.length > 1
  if (header.columns.length === names.length || header.columns[0]!.startsWith('#')) return
  if (!isOne && !isLost) return
  throw new SourceProblem(
    `its header has ${header.columns.length} columns (${header.columns.slice(0, 10).join(', ')}), and its rows do not, so DuckDB reads ${names.slice(0, 10).join(', ')}`,
    `give each row as many fields as the header has, and put a value that contains "${header.delimiter}" in quotes`,
  )
}

/** A numeric of PostgreSQL without a precision arrives as a DOUBLE, and its digits are lost. */
async function inexactColumns(
  connection: Connection,
  source: ExternalSource,
  { name }: ExternalTable,
): Promise<readonly string[]> {
  if (source.system !== 'postgres') return []
  const query = sql`
    SELECT column_name AS name FROM information_schema.columns
    WHERE table_schema = ${sql.value(source.schema)} AND table_name = ${sql.value(name)}
      AND data_type = 'numeric' AND numeric_precision IS NULL`
  const rows = await connection.rows(sql`
    FROM postgres_query(${sql.value(`_eider_source_${source.name}`)}, ${sql.value(query.inline())})`)
  return rows.map((row) => textOf(row['name']))
}

/** Nothing is wrong as long as nobody reads it. */
function refused(source: ExternalSource, { name }: ExternalTable, column: string): Sql {
  const message = `${source.name}.${name}.${column} is a numeric without a precision, whose digits would be lost: read a view of the database that casts it, such as CAST(${column} AS numeric(18, 2))`
  return sql`CASE WHEN ${sql.ident(column)} IS NULL THEN NULL ELSE error(${sql.value(message)}) END::DOUBLE`
}

function rowsOf(dir: string, source: ExternalSource, { name, file }: ExternalTable): Sql {
  if (file === null) return sql`${databaseOf(source)}.${sql.ident(source.schema, name)}`
  return sql`${readerOf(file)}(${sql.value(patternOf(dir, file))})`
}

/** The name of an existing file means that file; else the path is a pattern, but the project's own directory is not. */
function patternOf(dir: string, file: string): string {
  const path = resolve(dir, file)
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return verbatim(path)
  return isAbsolute(file) ? path : join(verbatim(dir), file)
}

/** Its age is counted from a time. */
function wrongTime(table: CompiledExternal, { source }: ExternalSource): Diagnostic | null {
  const { name, columns, loadedAt, span } = table
  if (loadedAt === null) return null
  const column = columns.find((known) => sameName(known.name, loadedAt))
  const wrong = (problem: string, hint?: string) =>
    diagnostic('invalid-source', { name, problem }, { source, span }, { hint })
  if (column === undefined) {
    const names = columns.map((known) => known.name)
    return wrong(`it has no column "${loadedAt}"`, didYouMean(loadedAt, names))
  }
  if (/^(DATE|TIMESTAMP)/.test(column.type)) return null
  return wrong(
    `"${loadedAt}" is ${column.type}, and loaded_at must be a date or a time`,
    'choose a date or time column, or omit loaded_at',
  )
}

function unusable(
  error: unknown,
  dir: string,
  { source }: ExternalSource,
  name: string,
  span: ExternalTable['span'],
): Diagnostic {
  const refused = (problem: string, hint?: string) =>
    diagnostic('invalid-source', { name, problem }, { source, span }, { hint })
  if (error instanceof SourceProblem || error instanceof ExtensionError)
    return refused(error.message, error.hint)
  if (!(error instanceof DatabaseError)) throw error
  const details = withoutDir(error.details, dir)
  const { message } = details
  if (/can only read versions? between/.test(message))
    return refused(
      'a newer DuckDB wrote it',
      "write it there with ATTACH … (STORAGE_VERSION 'v1.5.0')",
    )
  if (message.startsWith('Table with name')) {
    const table = name.slice(name.indexOf('.') + 1)
    const meant = details.candidates.map((candidate) => candidate.split('.').at(-1)!)
    const hint =
      didYouMean(table, meant) ?? 'check the name, and "schema" of the source; main is the default'
    return refused(`its database has no table "${table}"`, hint)
  }
  return refused(problemOf(details).replaceAll(/"?_eider_source_\w+"?\./g, ''), hintOf(message))
}

function hintOf(message: string): string | undefined {
  if (/^(?:Unable to connect to Postgres|Failed to connect to MySQL)/.test(message))
    return 'check its URL, the variable SOURCE_<NAME>_PASSWORD, and whether the server runs'
  if (/Could not set lock/.test(message))
    return 'another process is writing to it; run again when it has finished'
  return /does not exist|No files found|No such file/.test(message)
    ? 'paths are relative to the directory of eider.yml'
    : undefined
}
