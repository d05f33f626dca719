// Writes the catalog of what is published now. The run that published it does so, and later ones that change nothing, since
// they too are in it.

import { knownModels } from '../../compiler/select.ts'
import type { Logger } from '../../core/logger.ts'
import type { CompiledProject } from '../../core/model.ts'
import type { Published, SnapshotStore } from '../../store/snapshots.ts'
import { catalogIdentity, pastRunsOf, printCatalog } from './catalog-text.ts'
import type { PastRuns } from './past-runs.ts'

interface CatalogedRun {
  readonly snapshots: SnapshotStore
  readonly project: CompiledProject
  readonly published: Pick<Published, 'snapshot' | 'before' | 'changed'>
  /** Whether it has changed nothing. */
  readonly isIdle: boolean
  /** What is said of runs now, this one included; `before` is what the last catalog said, null for nothing. */
  readonly readRuns: (before: PastRuns | null, models: ReadonlySet<string>) => Promise<PastRuns>
  readonly logger: Logger
}

/** The page of the service is not worth a failed run: without a catalog it shows what the manifest tells. */
export async function catalogRun(run: CatalogedRun): Promise<void> {
  const { snapshots, published, isIdle, logger } = run
  const isSame = !published.changed && isIdle && !snapshots.catalogsIdleRuns
  try {
    if (isSame && (await snapshots.catalog(published.snapshot.id)) !== null) return
    await writeCatalog(run)
  } catch (error) {
    logger.warn('catalog-not-written', { error: String(error) })
  }
}

async function writeCatalog({ snapshots, project, published, readRuns }: CatalogedRun) {
  const { snapshot } = published
  const before = published.before === null ? null : await snapshots.catalog(published.before.id)
  const models = new Set<string>(knownModels(project).keys())
  const runs = await readRuns(before === null ? null : pastRunsOf(before), models)
  const identity = catalogIdentity(project)
  const text = printCatalog(project, snapshot, runs, { identity, before })
  await snapshots.writeCatalog(snapshot.id, text)
}
