// The warehouse of a target with the sources of its project.

import { attachSources } from '../../compiler/attach-sources.ts'
import { type Diagnostic, throwIfErrors } from '../../core/diagnostics.ts'
import type { ExternalSource } from '../../core/external.ts'
import { Resources } from '../../core/resources.ts'
import type { Database } from '../../duckdb/database.ts'
import type { ReadOptions, Warehouse, WriteOptions } from '../../store/warehouse.ts'

/** For a run. Throws DiagnosticsError: what was readable when the project was compiled may have gone since. */
export async function openWarehouse(
  warehouse: Warehouse,
  options: WriteOptions,
  { dir, sources }: ProjectSources,
): Promise<Database> {
  await using resources = new Resources()
  const database = resources.use(await warehouse.open(options))
  throwIfErrors(await attachAll(database, dir, sources))
  resources.move()
  return database
}

/** For commands that change nothing. A source that cannot be read stands in the way of those queries only that read it. */
export async function openWarehouseToRead(
  warehouse: Warehouse,
  options: ReadOptions,
  { dir, sources }: ProjectSources,
): Promise<Database> {
  await using resources = new Resources()
  const database = resources.use(await warehouse.openToRead(options))
  await attachAll(database, dir, sources)
  resources.move()
  return database
}

export interface ProjectSources {
  /** Of the project: relative paths of sources begin there. */
  readonly dir: string
  readonly sources: readonly ExternalSource[]
}

async function attachAll(
  database: Database,
  dir: string,
  sources: readonly ExternalSource[],
): Promise<readonly Diagnostic[]> {
  if (sources.length === 0) return []
  await using connection = await database.connect()
  return (await attachSources(connection, dir, sources)).diagnostics
}
