// The sources of a project while it is compiled: attached to the engine, and found by their names.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { CompiledExternal, ExternalSource } from '../core/external.ts'
import { foldCase, type ModelName, sameName, splitModelName } from '../core/names.ts'
import type { Connection } from '../duckdb/database.ts'
import { attachSources } from './attach-sources.ts'

export interface KnownSources {
  /** Those that can be read. */
  readonly tables: readonly CompiledExternal[]
  /** The name of a table as its source declares it, also when it cannot be read; null when no source has it. */
  readonly find: (name: string) => string | null
  /** Whether a table of that declared name cannot be read. */
  readonly isBroken: (name: string) => boolean
  /** File, or database, of a table. */
  readonly pathOf: (name: string) => string
  /** Schema of a table in its database. */
  readonly schemaOf: (name: string) => string
  /** Sources and tables that cannot be read now. */
  readonly unreadable: readonly Diagnostic[]
  /** Sources with the name of a schema of models, which are not attached. */
  readonly misnamed: readonly Diagnostic[]
}

export async function attachKnownSources(
  connection: Connection,
  dir: string,
  sources: readonly ExternalSource[],
  modelNames: readonly ModelName[],
): Promise<KnownSources> {
  const misnamed = nameClashes(sources, modelNames)
  const free = sources.filter(({ span }) => !misnamed.some((clash) => clash.span === span))
  const { tables, diagnostics: unreadable } = await attachSources(connection, dir, free)
  const readable = new Map(tables.map((table) => [foldCase(table.name), table]))
  const broken = free.flatMap(tableNames).filter((name) => !readable.has(foldCase(name)))
  const brokenNames = new Set(broken)
  return {
    tables,
    find: (name) =>
      readable.get(foldCase(name))?.name ?? broken.find((table) => sameName(table, name)) ?? null,
    isBroken: (name) => brokenNames.has(name),
    pathOf: (name) => readable.get(foldCase(name))?.path ?? name,
    schemaOf: (table) =>
      free.find(({ name }) => sameName(name, table.split('.')[0]!))?.schema ?? '',
    unreadable,
    misnamed,
  }
}

const tableNames = ({ name, tables }: ExternalSource) =>
  tables.map((table) => `${name}.${table.name}`)

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
        { hint: 'name the source or the folder of the models differently' },
      ),
    )
}
