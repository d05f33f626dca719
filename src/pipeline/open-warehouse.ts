// The warehouse of a target with the sources of its project.

import { attachSources } from '../compiler/sources/known-sources.ts'
import type { ExternalSource } from '../core/sources.ts'
import type { CompiledProject } from '../core/model.ts'
import { Resources } from '../core/resources.ts'
import { foldCase } from '../core/names.ts'
import { sql } from '../core/sql.ts'
import { textOf } from '../duckdb/values.ts'
import type { Database } from '../duckdb/database.ts'
import type { ReadOptions, Warehouse } from '../store/warehouse.ts'

/** For commands that change nothing. */
export async function openWarehouseToRead(
  warehouse: Warehouse,
  options: ReadOptions,
  sources: ProjectSources,
): Promise<Database> {
  return withSources(await warehouse.openToRead(options), sources)
}

interface ProjectSources {
  /** The project directory, where relative paths of sources begin. */
  readonly dir: string
  readonly sources: readonly ExternalSource[]
}

/** Without those of which the compile could read no table: a server that hangs is waited for once. */
export const readableSources = ({
  external,
}: Pick<CompiledProject, 'external'>): readonly ExternalSource[] =>
  (external?.sources ?? []).filter(({ name, tables }) =>
    tables.some((table) => !external!.problems.has(`${name}.${table.name}`)),
  )

/** A source that cannot be read blocks only the models that read it. */
export async function withSources(
  database: Database,
  { dir, sources }: ProjectSources,
): Promise<Database> {
  if (sources.length === 0) return database
  await using resources = new Resources()
  resources.use(database)
  await attachSources(database, dir, sources)
  resources.move()
  return database
}

/** A schema of models that are gone, with the name of a source: nothing could be read by that name. */
export async function dropEmptySchemas(
  database: Database,
  sources: readonly ExternalSource[],
): Promise<void> {
  if (sources.length === 0) return
  const names = sources.map(({ name }) => sql.value(foldCase(name)))
  await using connection = await database.connect()
  const taken = await connection.rows(sql`
    SELECT schema_name AS name FROM duckdb_schemas()
    WHERE database_name = current_database() AND NOT internal AND lower(schema_name) IN (${sql.join(names)})`)
  // To list tables takes longer, and mostly there is no such schema.
  if (taken.length === 0) return
  const used = await connection.rows(sql`
    SELECT schema_name AS name FROM duckdb_tables() WHERE database_name = current_database()
    UNION SELECT schema_name FROM duckdb_views() WHERE database_name = current_database()`)
  const inUse = new Set(used.map(({ name }) => textOf(name)))
  for (const name of taken.map((row) => textOf(row['name'])))
    if (!inUse.has(name)) await connection.run(sql`DROP SCHEMA ${sql.ident(name)}`)
}
