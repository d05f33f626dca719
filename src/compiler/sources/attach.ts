// Sources in DuckDB: each is a separate catalog in memory with a view for each of its tables, so that a model
// says `crm.customers` whether that is a table of another database or a file. Databases are attached for reading only.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { sameName } from '../../core/names.ts'
import {
  type CompiledExternal,
  extensionsOfSource,
  type ExternalSource,
  type ExternalTable,
} from '../../core/sources.ts'
import { sql } from '../../core/sql.ts'
import { didYouMean } from '../../core/suggest.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection, Database } from '../../duckdb/database.ts'
import { sourceAccess } from './kinds.ts'
import { unusable } from './problems.ts'
import type { OpenSource } from './source-access.ts'

interface AttachResult {
  readonly tables: readonly CompiledExternal[]
  /** Why a declared table cannot be read, by its name; one diagnostic for all tables of a source that is missing. */
  readonly problems: ReadonlyMap<string, Diagnostic>
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
): Promise<AttachResult> {
  database.hide(sources.flatMap(({ hidden }) => hidden))
  const attached = await Promise.all(
    sources.map((source) => {
      const isOnly = sources.every((other) => other === source || other.kind !== source.kind)
      return attachSource(database, dir, source, isOnly)
    }),
  )
  return {
    tables: attached.flatMap(({ tables }) => tables),
    problems: new Map(attached.flatMap(({ problems }) => [...problems])),
  }
}

async function attachSource(
  database: Database,
  dir: string,
  source: ExternalSource,
  isOnly: boolean,
): Promise<AttachResult> {
  const declared = declaredTables(source)
  const [mistake] = source.mistakes
  const allUnreadable = (wrong: Diagnostic) => ({
    tables: [],
    problems: new Map(declared.map(({ name }) => [name, wrong])),
  })
  if (mistake !== undefined) return allUnreadable(mistake)
  await using connection = await database.connect()
  const opened = await sourceAccess[source.kind].open(database, dir, source)
  try {
    await connection.loadExtensions(extensionsOfSource(source))
    await opened.attach(connection)
    await connection.run(sql`ATTACH ':memory:' AS ${sql.ident(source.name)} (READ_WRITE)`)
  } catch (error) {
    return allUnreadable(unusable(error, dir, source, source, opened))
  }
  const tables: CompiledExternal[] = []
  const problems = new Map<string, Diagnostic>()
  for (const [i, table] of source.tables.entries()) {
    const { name, ...rest } = declared[i]!
    try {
      const compiled = { ...rest, name, ...(await createView(connection, source, opened, table)) }
      const wrong = wrongTime(compiled, source)
      if (wrong === null) tables.push(compiled)
      else problems.set(name, wrong)
    } catch (error) {
      problems.set(name, unusable(error, dir, source, { ...table, name }, opened))
    }
  }
  database.explain((message) => {
    const reason = opened.explainModel?.(message, isOnly) ?? null
    if (reason === null) return null
    const hint = reason.hint === undefined ? '' : `; ${reason.hint}`
    return `the source "${source.name}" cannot be read: ${reason.problem}${hint}`
  })
  return { tables, problems }
}

async function createView(
  connection: Connection,
  { name: source }: ExternalSource,
  opened: OpenSource,
  table: ExternalTable,
): Promise<Pick<CompiledExternal, 'columns' | 'stamp'>> {
  // Before anything is read: what changes meanwhile is found changed by the next run.
  const stamp = await opened.stamp(connection, table)
  const view = sql.ident(source, 'main', table.name)
  await connection.run(sql`CREATE VIEW ${view} AS ${await opened.select(connection, table)}`)
  const columns = await describe(connection, sql`FROM ${view}`)
  await opened.check?.(table, columns)
  return { columns, ...(stamp === undefined ? {} : { stamp }) }
}

/** Its age is counted from a time. */
function wrongTime(table: CompiledExternal, { source }: ExternalSource): Diagnostic | null {
  const { name, columns, loadedAt, span } = table
  if (loadedAt === null) return null
  const column = columns.find((known) => sameName(known.name, loadedAt))
  const wrong = (problem: string, hint?: string) =>
    diagnostic('invalid-source', { name, problem }, { source, span }, hint)
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
