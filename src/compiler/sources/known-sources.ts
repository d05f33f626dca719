// The sources of a project while it is compiled: attached to DuckDB, and found by their names.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import {
  type CompiledExternal,
  type ExternalSource,
  isRemote,
  extensionsOfSource,
  type ExternalTable,
  versionedName,
} from '../../core/sources.ts'
import { foldCase, type ModelName, sameName, splitModelName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { sql } from '../../core/sql.ts'
import type { Connection, Database } from '../../duckdb/database.ts'
import type { Extensions } from '../../core/extensions.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { fileReach } from './files.ts'
import { sourceAccess } from './kinds.ts'
import { isFileTable } from './rows-of-file.ts'
import { didYouMean } from '../../core/suggest.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import { describe } from '../../duckdb/catalog.ts'
import { textOf } from '../../duckdb/values.ts'
import { hashOf } from '../../core/hash.ts'
import { SourceProblem, unusable, withoutValues } from './problems.ts'
import type { OpenSource } from './source-access.ts'

export interface KnownSources {
  /** The tables that can be read, and those whose columns are known from a time when they could. */
  readonly tables: readonly CompiledExternal[]
  /** The name of a table as its source declares it, also when it cannot be read; null when no source has it. */
  readonly find: (name: string) => string | null
  /** Whether a table of that declared name cannot be read and has no known columns. */
  readonly isUnknown: (name: string) => boolean
  /** Why a table of that declared name cannot be read now. */
  readonly problems: ReadonlyMap<string, Diagnostic>
  /** What a model that reads the table depends on: a file, a database, or that table alone. */
  readonly pathOf: (name: string) => string
  /** Whether nothing tells cheaply that a table has changed. */
  readonly isVolatile: (name: string) => boolean
  /** Names of the columns that a table has now, or had when it could be read last. */
  readonly columnsOf: (name: string) => readonly string[]
  /** What of the database or the file a table is: its schema, or its cells, and how it is read. */
  readonly partOf: (name: string) => string
  /** Sources and tables that cannot be read now, and what is read in a way that somebody may not have meant. */
  readonly unreadable: readonly Diagnostic[]
  /** Sources with the name of a schema of models, which are not attached. */
  readonly misnamed: readonly Diagnostic[]
}

export async function attachKnownSources(
  database: Database,
  connection: Connection,
  dir: string,
  sources: readonly ExternalSource[],
  given: {
    readonly modelNames: readonly ModelName[]
    readonly knownTables: readonly CompiledExternal[]
    /** Sources of which all tables are known are not asked again. */
    readonly trustsKnown?: boolean | undefined
  },
): Promise<KnownSources> {
  const misnamed = nameClashes(sources, given.modelNames)
  const free = sources.filter(({ span }) => !misnamed.some((clash) => clash.span === span))
  const lastKnown = (table: Pick<CompiledExternal, 'name' | 'path'>) =>
    given.knownTables.find(({ name, path }) => sameName(name, table.name) && path === table.path)
  const isAsked = (source: ExternalSource) =>
    given.trustsKnown !== true || !declaredTables(source).every(lastKnown)
  const {
    tables: readable,
    problems,
    warnings,
  } = await attachSources(database, dir, free.filter(isAsked))
  const declared = free.flatMap((source) => declaredTables(source))
  const tables: CompiledExternal[] = [...readable]
  const read = new Set(readable.map(({ name }) => name))
  for (const table of declared.filter(({ name }) => !read.has(name))) {
    const before = lastKnown(table)
    if (before === undefined) continue
    await standIn(connection, table.name, before.columns)
    const { columns, asText } = before
    tables.push({ ...table, columns, ...(asText && { asText }) })
  }
  const known = new Map(tables.map((table) => [foldCase(table.name), table]))
  return {
    tables,
    problems,
    find: (name) => declared.find((table) => sameName(table.name, name))?.name ?? null,
    isUnknown: (name) => problems.has(name) && !known.has(foldCase(name)),
    pathOf: (name) => {
      const table = known.get(foldCase(name))
      return table === undefined ? name : versionedName(table)
    },
    isVolatile: (name) => known.get(foldCase(name))?.stamp === null,
    columnsOf: (name) => known.get(foldCase(name))?.columns.map((column) => column.name) ?? [],
    partOf: (table) => partOf(table, free),
    unreadable: [...new Set(problems.values()), ...warnings],
    misnamed,
  }
}

function partOf(table: string, sources: readonly ExternalSource[]): string {
  const source = sources.find(({ name }) => sameName(name, table.split('.')[0]!))
  const found = source?.tables.find(({ name }) => sameName(`${source.name}.${name}`, table))
  const { sheet = null, range = null, csv = null, parquet } = found ?? {}
  const cells = sheet === null && range === null ? '' : `!${sheet ?? ''}!${range ?? ''}`
  const types = found?.format === 'csv' ? [...(found.columns ?? [])] : []
  const settings = csv === null && types.length === 0 ? '' : JSON.stringify([csv, types])
  const union = parquet?.unionByName === true ? 'union' : ''
  return `${source?.schema ?? ''}${cells}${settings}${union}`
}

/** An empty table with the columns of the one that is away. */
async function standIn(
  connection: Connection,
  table: string,
  columns: readonly Column[],
): Promise<void> {
  const { schema: source, table: name } = splitModelName(table)
  await connection.run(sql`ATTACH IF NOT EXISTS ':memory:' AS ${sql.ident(source)} (READ_WRITE)`)
  await connection.run(sql`
    CREATE OR REPLACE VIEW ${sql.ident(source, 'main', name)} AS SELECT ${sql.nulls(columns)} LIMIT 0`)
}

/** Where models have a schema of the name of a source, `a.b` would mean both. */
function nameClashes(
  sources: readonly ExternalSource[],
  modelNames: readonly ModelName[],
): readonly Diagnostic[] {
  const schemas = new Set(modelNames.map((name) => foldCase(splitModelName(name).schema)))
  return sources
    .filter(({ name }) => schemas.has(foldCase(name)))
    .map(({ name, source, span }) =>
      diagnostic(
        'invalid-source',
        { name, problem: 'models have a schema of that name' },
        { source, span },
        'rename the source or the models folder',
      ),
    )
}

/** Extensions that a project names give its models all that they can do. */
const REACHING = ['httpfs', 'azure', 'aws']

export const mustCloseEngine = (
  dir: string,
  sources: readonly ExternalSource[],
  extensions: Pick<Extensions, 'names'> | undefined,
): boolean =>
  sources.some(
    (source) =>
      filesOf(source, dir) === null ||
      source.tables.some(({ location }) => isRemote(location ?? '')),
  ) && !REACHING.some((name) => extensions?.names.includes(name) === true)

/**
 * A project that reads from the network reads nothing but what eider.yml names: while its models are compiled the engine
 * reaches the files of the project and those of its sources, and no other file or host. Models are bound there, which
 * opens what they read, so that what lies outside is a mistake of the model. For all connections, and for good.
 */
export async function closeEngine(
  connection: Connection,
  dir: string,
  sources: readonly ExternalSource[],
): Promise<void> {
  const reached = sources.flatMap(({ tables }) =>
    tables.filter(isFileTable).map((table) => fileReach(dir, table)),
  )
  const directories = reached.flatMap((one) => ('directory' in one ? [one.directory] : []))
  const paths = [
    ...reached.flatMap((one) => ('path' in one ? [one.path] : [])),
    ...sources.flatMap((source) => filesOf(source, dir) ?? []),
  ]
  const list = (all: readonly string[]) => sql.values([...new Set(all)])
  await connection.run(sql`
    SET GLOBAL allowed_directories = [${list([`${dir}/`, ...directories])}];
    SET GLOBAL allowed_paths = [${list(paths)}];
    SET GLOBAL enable_external_access = false`)
}

const filesOf = (source: ExternalSource, dir: string) =>
  sourceAccess[source.kind].filesOf(source, dir)

interface AttachResult {
  readonly tables: readonly CompiledExternal[]
  /** Why a declared table cannot be read, by its name; one diagnostic for all tables of a source that is missing. */
  readonly problems: ReadonlyMap<string, Diagnostic>
  readonly warnings: readonly Diagnostic[]
}

/** The tables of a source without their columns. */
function declaredTables({
  name: source,
  database,
  tables,
}: ExternalSource): readonly Omit<CompiledExternal, 'columns'>[] {
  return tables.map(({ name, file, changedBy, loadedAt, warnAfter, errorAfter, span }) => {
    const path = file ?? database ?? ''
    return { name: `${source}.${name}`, path, changedBy, loadedAt, warnAfter, errorAfter, span }
  })
}

/**
 * Each source is a separate catalog in memory with a view for each of its tables, so that a model says `crm.customers`
 * whether that is a table of another database or a file. Attaches them to the database, for all of its connections. `dir` is the project directory. Those that hang do
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
    warnings: attached.flatMap(({ warnings }) => warnings),
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
    warnings: [],
  })
  if (mistake !== undefined) return allUnreadable(mistake)
  await using connection = await database.connect()
  const opened = await sourceAccess[source.kind].open(database, dir, source)
  try {
    await connection.loadExtensions(extensionsOfSource({ ...source, tables: [] }))
    await opened.attach(connection)
    await connection.run(sql`ATTACH ':memory:' AS ${sql.ident(source.name)} (READ_WRITE)`)
  } catch (error) {
    return allUnreadable(unusable(error, dir, source, source, opened))
  }
  const tables: CompiledExternal[] = []
  const problems = new Map<string, Diagnostic>()
  const warnings: Diagnostic[] = []
  // One that is missing is said once, and costs the tables that need it.
  const lacking = new Map<string, Diagnostic | null>()
  const lackOf = async (table: ExternalTable): Promise<Diagnostic | null> => {
    const names = extensionsOfSource({ ...source, tables: [table] })
    const known = lacking.get(names.join())
    if (known !== undefined) return known
    const lack = await connection.loadExtensions(names).then(
      () => null,
      (error: unknown) => unusable(error, dir, source, source, opened),
    )
    lacking.set(names.join(), lack)
    return lack
  }
  for (const [i, table] of source.tables.entries()) {
    const { name, ...rest } = declared[i]!
    const lack = await lackOf(table)
    if (lack !== null) {
      problems.set(name, lack)
      continue
    }
    try {
      const { said, ...made } = await createView(connection, source, opened, table)
      warnings.push(...said)
      const compiled = { ...rest, name, ...made }
      const wrong = wrongChange(compiled, source) ?? wrongTime(compiled, source)
      if (wrong !== null) problems.set(name, wrong)
      else if (compiled.changedBy === null) tables.push(compiled)
      else tables.push({ ...compiled, stamp: await stampByColumn(connection, compiled) })
    } catch (error) {
      const { explainTable } = opened
      const isOfEngine = error instanceof DatabaseError && explainTable !== undefined
      const better = isOfEngine ? await explainTable(connection, table, error.message) : null
      const cause = better === null ? error : new SourceProblem(better)
      problems.set(name, unusable(cause, dir, source, { ...table, name }, opened))
    }
  }
  database.explain((message) => {
    const { explainRead } = sourceAccess[source.kind]
    const own = opened.explainModel?.(message) ?? null
    const reason = own ?? (isOnly ? (explainRead?.(message, source) ?? null) : null)
    return reason && cannotBeRead(source, reason)
  })
  return { tables, problems, warnings }
}

export const cannotBeRead = ({ name }: ExternalSource, { problem, hint }: Explanation) =>
  `the source "${name}" cannot be read: ${problem}${hint === undefined ? '' : `; ${hint}`}`

/** What an error means of a query that reads these tables, as `source.table`; null: nothing tells which source it is of. */
export function problemOfRead(
  sources: readonly ExternalSource[],
  tables: ReadonlySet<string>,
  message: string,
): string | null {
  const read = sources.filter(({ name, tables: own }) =>
    own.some((table) => tables.has(`${name}.${table.name}`)),
  )
  for (const source of read) {
    const isOnly = read.every((other) => other === source || other.kind !== source.kind)
    const reason = isOnly ? sourceAccess[source.kind].explainRead?.(message, source) : null
    if (reason != null) return cannotBeRead(source, reason)
  }
  return null
}

async function createView(
  connection: Connection,
  { name: source, source: file, hidden }: ExternalSource,
  opened: OpenSource,
  table: ExternalTable,
): Promise<
  Pick<CompiledExternal, 'columns' | 'stamp' | 'asText'> & { readonly said: readonly Diagnostic[] }
> {
  // Before anything is read: what changes meanwhile is found changed by the next run.
  const stamp = await opened.stamp(connection, table)
  const view = sql.ident(source, 'main', table.name)
  const describeAs = async (asText: readonly string[]) => {
    const rows = await opened.select(connection, table, asText)
    await connection.run(sql`CREATE OR REPLACE VIEW ${view} AS ${rows}`)
    return describe(connection, sql`FROM ${view}`)
  }
  const found = await describeAs([])
  const asText = (await opened.asText?.(connection, table, found)) ?? []
  const columns = asText.length === 0 ? found : await describeAs(asText)
  const warnings = (await opened.check?.(connection, table, columns)) ?? []
  const said = warnings.map((warning) =>
    withoutValues(warning({ source: file, span: table.span }), hidden),
  )
  const read = asText.length === 0 ? {} : { asText }
  return { columns, said, ...read, ...(stamp === undefined ? {} : { stamp }) }
}

/**
 * Equal as long as no row has come, gone or changed its value. The greatest value would not do: what is committed late may
 * have a lower one than what was there before. Before a model reads the table.
 */
async function stampByColumn(
  connection: Connection,
  { name, changedBy }: CompiledExternal,
): Promise<string> {
  const value = sql.ident(changedBy!)
  const row = await connection.row(
    sql`SELECT count(*) || ' ' || coalesce(sum(hash(${value})::HUGEINT), 0) AS stamp FROM ${sql.relation(name)}`,
  )
  return hashOf(16, [textOf(row?.['stamp'])])
}

function missingColumn(
  { name, columns, span }: CompiledExternal,
  { source }: ExternalSource,
  column: string,
): Diagnostic | null {
  if (columns.some((known) => sameName(known.name, column))) return null
  const names = columns.map((known) => known.name)
  const problem = `it has no column "${column}"`
  const hint = didYouMean(column, names)
  return diagnostic('invalid-source', { name, problem }, { source, span }, hint)
}

const wrongChange = (table: CompiledExternal, source: ExternalSource) =>
  table.changedBy === null ? null : missingColumn(table, source, table.changedBy)

/** Its age is counted from a time. */
function wrongTime(table: CompiledExternal, external: ExternalSource): Diagnostic | null {
  const { name, columns, loadedAt, span } = table
  if (loadedAt === null) return null
  const column = columns.find((known) => sameName(known.name, loadedAt))
  if (column === undefined) return missingColumn(table, external, loadedAt)
  if (/^(DATE|TIMESTAMP)/.test(column.type)) return null
  return diagnostic(
    'invalid-source',
    { name, problem: `"${loadedAt}" is ${column.type}, and loaded_at must be a date or a time` },
    { source: external.source, span },
    'choose a date or time column, or omit loaded_at',
  )
}
