// The warehouse of a target with the sources of its project.

import { attachSources } from '../compiler/sources/known-sources.ts'
import type { ExternalSource } from '../core/sources.ts'
import type { CompiledProject } from '../core/model.ts'
import { Resources } from '../core/resources.ts'
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
