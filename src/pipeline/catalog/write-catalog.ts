// Writes the catalog of what is published now. The run that published it does so, and later ones that change nothing, since
// they too are in it.

import { knownModels } from '../../compiler/select.ts'
import type { Logger } from '../../core/logger.ts'
import type { CompiledProject } from '../../core/model.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { Published, SnapshotStore } from '../../store/snapshots.ts'
import type { Store } from '../../store/store.ts'
import { identityOf, pastRunsOf, printCatalog } from './catalog-text.ts'
import { readPastRuns } from './past-runs.ts'

export interface CatalogedRun {
  readonly store: Pick<Store, 'snapshots'>
  readonly project: CompiledProject
  readonly logger: Logger
}

/** The page of the service is not worth a failed run: without a catalog it shows what the manifest tells. */
export async function catalogRun(
  { store: { snapshots }, project, logger }: CatalogedRun,
  published: Published,
  isIdle: boolean,
  connection: Connection,
): Promise<void> {
  const isSame = !published.changed && isIdle && !snapshots.catalogsIdleRuns
  try {
    if (isSame && (await snapshots.catalog(published.snapshot.id)) !== null) return
    await writeCatalog({ connection, snapshots, project, published })
  } catch (error) {
    logger.warn('catalog-not-written', { error: String(error) })
  }
}

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
