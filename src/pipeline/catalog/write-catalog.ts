// Writes the catalog of what is published now. The run that published it does so, and later ones that change nothing, since
// they too are in it.

import { knownModels } from '../../compiler/select.ts'
import type { CompiledProject } from '../../core/model.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { Published, SnapshotStore } from '../../store/snapshot-store.ts'
import { identityOf, pastRunsOf, printCatalog } from './catalog-text.ts'
import { readPastRuns } from './past-runs.ts'

export interface WriteCatalogOptions {
  /** To the warehouse, in which the run is recorded. */
  readonly connection: Connection
  readonly snapshots: SnapshotStore
  readonly project: CompiledProject
  readonly published: Pick<Published, 'snapshot' | 'before'>
}

export async function writeCatalog(options: WriteCatalogOptions): Promise<void> {
  const { connection, snapshots, project } = options
  const { snapshot, before: published } = options.published
  const before = published === null ? null : await snapshots.catalog(published.id)
  const names = new Set<string>(knownModels(project).keys())
  // In a lake each statement outside of a transaction is two of its own.
  const runs = await connection.transact(() =>
    readPastRuns(connection, before === null ? null : pastRunsOf(before), names),
  )
  const identity = identityOf(project)
  const text = printCatalog(project, snapshot, runs, { identity, before })
  await snapshots.writeCatalog(snapshot.id, text)
}
