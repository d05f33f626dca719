// The sources of a project while it is compiled: attached to DuckDB, and found by their names.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { type CompiledExternal, type ExternalSource, isRemote } from '../../core/sources.ts'
import { foldCase, type ModelName, sameName, splitModelName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { sql } from '../../core/sql.ts'
import type { Connection, Database } from '../../duckdb/database.ts'
import { attachSources, declaredTables } from './attach.ts'
import type { Extensions } from '../../core/extensions.ts'
import { isFileTable, reachOf } from './files.ts'
import { sourceAccess } from './kinds.ts'

export interface KnownSources {
  /** The tables that can be read, and those whose columns are known from a time when they could. */
  readonly tables: readonly CompiledExternal[]
  /** The name of a table as its source declares it, also when it cannot be read; null when no source has it. */
  readonly find: (name: string) => string | null
  /** Whether a table of that declared name cannot be read and has no known columns. */
  readonly isUnknown: (name: string) => boolean
  /** Why a table of that declared name cannot be read now. */
  readonly problems: ReadonlyMap<string, Diagnostic>
  /** File, or database, of a table. */
  readonly pathOf: (name: string) => string
  /** Whether nothing tells cheaply that a table has changed. */
  readonly isVolatile: (name: string) => boolean
  /** What of the database or the file a table is: its schema, or its cells. */
  readonly partOf: (name: string) => string
  /** Sources and tables that cannot be read now. */
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
  const { tables: readable, problems } = await attachSources(database, dir, free.filter(isAsked))
  const declared = free.flatMap((source) => declaredTables(source))
  const tables: CompiledExternal[] = [...readable]
  const read = new Set(readable.map(({ name }) => name))
  for (const table of declared.filter(({ name }) => !read.has(name))) {
    const before = lastKnown(table)
    if (before === undefined) continue
    await standIn(connection, table.name, before.columns)
    tables.push({ ...table, columns: before.columns })
  }
  const known = new Map(tables.map((table) => [foldCase(table.name), table]))
  return {
    tables,
    problems,
    find: (name) => declared.find((table) => sameName(table.name, name))?.name ?? null,
    isUnknown: (name) => problems.has(name) && !known.has(foldCase(name)),
    pathOf: (name) => known.get(foldCase(name))?.path ?? name,
    isVolatile: (name) => known.get(foldCase(name))?.stamp === null,
    partOf: (table) => partOf(table, free),
    unreadable: [...new Set(problems.values())],
    misnamed,
  }
}

function partOf(table: string, sources: readonly ExternalSource[]): string {
  const source = sources.find(({ name }) => sameName(name, table.split('.')[0]!))
  const found = source?.tables.find(({ name }) => sameName(`${source.name}.${name}`, table))
  const { sheet = null, range = null } = found ?? {}
  const cells = sheet === null && range === null ? '' : `!${sheet ?? ''}!${range ?? ''}`
  return `${source?.schema ?? ''}${cells}`
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
    tables.filter(isFileTable).map((table) => reachOf(dir, table)),
  )
  const directories = reached.flatMap((one) => ('directory' in one ? [one.directory] : []))
  const paths = [
    ...reached.flatMap((one) => ('path' in one ? [one.path] : [])),
    ...sources.flatMap((source) => filesOf(source, dir) ?? []),
  ]
  const list = (all: readonly string[]) => sql.join([...new Set(all)].map((one) => sql.value(one)))
  await connection.run(sql`
    SET GLOBAL allowed_directories = [${list([`${dir}/`, ...directories])}];
    SET GLOBAL allowed_paths = [${list(paths)}];
    SET GLOBAL enable_external_access = false`)
}

const filesOf = (source: ExternalSource, dir: string) =>
  sourceAccess[source.kind].filesOf(source, dir)
