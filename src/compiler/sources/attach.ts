// Sources in DuckDB: each is a separate catalog in memory with a view for each of its tables, so that a model
// says `crm.customers` whether that is a table of another database or a file. Databases are attached for reading only.

import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import {
  type CompiledExternal,
  extensionsOfSource,
  type ExternalSource,
  type ExternalTable,
  isRemote,
  type SourceSystem,
} from '../../core/external.ts'
import { sameName } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { didYouMean } from '../../core/suggest.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection, Database } from '../../duckdb/database.ts'
import type { ServerRelay } from '../../duckdb/server-relay.ts'
import { headerOfFile } from '../csv/scan.ts'
import { exactColumns } from './exact.ts'
import { createSecret, isFileTable, rowsOfFile, stampOf } from './files.ts'
import { probeFile } from './probe.ts'
import { type Reason, SourceProblem, unusable } from './problems.ts'
import { attachedName, attachServer, brokenServer, openRelay, serverProblem } from './servers.ts'

export interface Attached {
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
  return tables.map(({ name, file, loadedAt, warnAfter, errorAfter, span }) => {
    const path = file ?? database ?? ''
    return { name: `${source}.${name}`, path, loadedAt, warnAfter, errorAfter, span }
  })
}

/**
 * Attaches the sources to the database, for all of its connections. `dir` is the project directory. Those that hang do
 * so side by side.
 */
export async function attachSources(
  database: Database,
  dir: string,
  sources: readonly ExternalSource[],
): Promise<Attached> {
  database.hide(sources.flatMap(({ hidden }) => hidden))
  const attached = await Promise.all(
    sources.map((source) => {
      const isOnly = sources.every((other) => other === source || other.system !== source.system)
      return attachSource(database, dir, source, isOnly)
    }),
  )
  return {
    tables: attached.flatMap(({ tables }) => tables),
    away: new Map(attached.flatMap(({ away }) => [...away])),
  }
}

async function attachSource(
  database: Database,
  dir: string,
  source: ExternalSource,
  isOnly: boolean,
): Promise<Attached> {
  const declared = declaredTables(source)
  const [mistake] = source.mistakes
  const allAway = (wrong: Diagnostic) => ({
    tables: [],
    away: new Map(declared.map(({ name }) => [name, wrong])),
  })
  if (mistake !== undefined) return allAway(mistake)
  await using connection = await database.connect()
  const relay = source.server === null ? null : await openRelay(database, source.server)
  const server = (message: string): Reason | null =>
    source.server === null ? null : serverProblem(message, source.server, source.system, relay)
  try {
    await attach(connection, dir, source, relay)
  } catch (error) {
    return allAway(unusable(error, dir, source, source, server))
  }
  const tables: CompiledExternal[] = []
  const away = new Map<string, Diagnostic>()
  for (const [i, table] of source.tables.entries()) {
    const { name, ...rest } = declared[i]!
    try {
      const compiled = { ...rest, name, ...(await createView(connection, dir, source, table)) }
      const wrong = wrongTime(compiled, source)
      if (wrong === null) tables.push(compiled)
      else away.set(name, wrong)
    } catch (error) {
      away.set(name, unusable(error, dir, source, { ...table, name }, server))
    }
  }
  if (relay !== null) database.explain((message) => brokenServer(message, source, relay, isOnly))
  return { tables, away }
}

async function attach(
  connection: Connection,
  dir: string,
  source: ExternalSource,
  relay: ServerRelay | null,
): Promise<void> {
  const { name, location, system } = source
  await connection.loadExtensions(extensionsOfSource(source))
  if (source.server !== null && relay !== null)
    await attachServer(connection, source, source.server, relay)
  else if (location !== null) {
    const problem = await foreignFormat(resolve(dir, location), system)
    if (problem !== null) throw new SourceProblem(problem)
    const path = sql.value(resolve(dir, location))
    const type = system === 'sqlite' ? sql`TYPE sqlite, ` : sql.empty
    const as = sql.ident(attachedName(source))
    await connection.run(sql`ATTACH ${path} AS ${as} (${type}READ_ONLY)`)
  }
  await connection.run(sql`ATTACH ':memory:' AS ${sql.ident(name)} (READ_WRITE)`)
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
      return { problem: 'it is an SQLite database', hint: 'write sqlite: instead of database:' }
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

async function createView(
  connection: Connection,
  dir: string,
  source: ExternalSource,
  table: ExternalTable,
): Promise<Pick<CompiledExternal, 'columns' | 'stamp'>> {
  // Before anything is read: what changes meanwhile is found changed by the next run.
  const stamp = await prepareFile(connection, dir, source, table)
  const view = sql.ident(source.name, 'main', table.name)
  const columns = await exactColumns(connection, source, table)
  await connection.run(
    sql`CREATE VIEW ${view} AS SELECT ${columns} FROM ${rowsOf(dir, source, table)}`,
  )
  const described = await describe(connection, sql`FROM ${view}`)
  if (isFileTable(table) && !isRemote(table.location))
    await refuseLostHeader(resolve(dir, table.location), table.location, described)
  return { columns: described, ...(stamp === undefined ? {} : { stamp }) }
}

/** undefined for what is hashed as any file of the project is. */
async function prepareFile(
  connection: Connection,
  dir: string,
  source: ExternalSource,
  table: ExternalTable,
): Promise<string | null | undefined> {
  if (source.server !== null) return null
  if (!isFileTable(table)) return undefined
  await createSecret(connection, source, table)
  if (/^https?:/.test(table.location)) {
    const stamp = await probeFile(table, source)
    return table.format === 'iceberg' || table.format === 'delta' ? null : stamp
  }
  const isHashed = !isRemote(table.location) && !['iceberg', 'delta'].includes(table.format)
  return isHashed ? undefined : stampOf(connection, dir, table)
}

function rowsOf(dir: string, source: ExternalSource, table: ExternalTable): Sql {
  if (isFileTable(table)) return rowsOfFile(dir, table)
  return sql.ident(attachedName(source), source.schema, table.name)
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
  throw new SourceProblem({
    problem: `its header has ${header.columns.length} columns (${header.columns.slice(0, 10).join(', ')}), and its rows do not, so DuckDB reads ${names.slice(0, 10).join(', ')}`,
    hint: `give each row as many fields as the header has, and put a value that contains "${header.delimiter}" in quotes`,
  })
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
