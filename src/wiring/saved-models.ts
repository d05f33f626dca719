// `eider serve --watch`: what is saved is built in a copy of the warehouse and published there, so the project's own
// tables and snapshots stay as the last run left them. A mistake leaves the state before it.

import { mkdir } from 'node:fs/promises'
import { withoutMistakes } from '../compiler/compile.ts'
import { compileOnce } from '../compiler/compile-once.ts'
import { UsageError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import type { Logger } from '../core/logger.ts'
import { kinds } from '../core/kinds.ts'
import type { CompiledProject } from '../core/model.ts'
import { foldCase } from '../core/names.ts'
import { Resources } from '../core/resources.ts'
import type { RunSummary } from '../core/report/progress.ts'
import { runPipeline } from '../pipeline/run.ts'
import { makeScratch, type Scratch } from '../pipeline/scratch.ts'
import type { Project } from '../project/project.ts'
import { openStore } from '../store/open.ts'
import type { SnapshotReader } from '../store/snapshot-reader.ts'
import { ProjectWatch } from '../project/watch.ts'
import { logMistakes } from './read-again.ts'
import { runOptionsOf } from './run-options.ts'

interface SavedModelsOptions {
  readonly load: () => Promise<Project>
  readonly logger: Logger
  readonly signal: AbortSignal
}

interface Copy {
  /** A run of the project has published since it was made. */
  isStale: boolean
  /** Models that keep their rows and were built in it, in lower case: the project does not know their state there. */
  readonly own: Set<string>
}

/** What each build works with. */
interface Saving extends SavedModelsOptions {
  readonly scratch: Scratch
  readonly copy: Copy
}

/**
 * Builds what is saved now, and each change from then on, until it is disposed of; `published` is to be served. Throws
 * EnvironmentError as the warehouse does.
 */
export async function openSavedModels(
  options: SavedModelsOptions,
): Promise<AsyncDisposable & { readonly published: SnapshotReader }> {
  await using resources = new Resources()
  const { paths } = await options.load()
  const store = openStore(paths)
  if (store.warehouse.fork === null)
    throw new UsageError(
      '--watch builds in a copy of the tables, and those of this target are in a lake',
      {
        hint: 'copy them into a target that is a file, and watch that: eider move --to dev, eider serve --watch --target dev',
      },
    )
  const scratch = resources.use(await makeScratch(paths, store))
  const files = resources.use(
    await ProjectWatch.open(paths.dir, { quietTextMs: limits.watchQuietTextMs }),
  )
  const copy = { isStale: true, own: new Set<string>() }
  await mkdir(paths.snapshots, { recursive: true }) // else the first publication would not be seen
  const following = store.published.follow(() => {
    copy.isStale = true
    files.note()
  })
  resources.defer(() => following.close())
  following.ensure()
  const saving = { ...options, scratch, copy }
  await build(saving)
  files.onChange(() => build(saving))
  const owned = resources.move()
  const { published } = scratch.store
  return { published, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() }
}

/** Never throws: what is wrong is logged, and the next change is another try. */
async function build(saving: Saving): Promise<void> {
  const { load, logger, signal, copy } = saving
  try {
    const project = await load()
    const compiled = withoutMistakes(
      await compileOnce(project.files, { ...project.paths, save: true }),
    )
    if (copy.isStale) await renewCopy(saving, project)
    let summary = await run(saving, project, compiled)
    // A model may be blocked by what was saved here before, which no run of the project has seen.
    const isOwn = ({ model }: { readonly model: string }) => copy.own.has(foldCase(model))
    if (summary.models.some((result) => result.status === 'failed' && isOwn(result))) {
      await renewCopy(saving, project)
      summary = await run(saving, project, compiled)
    }
    const { ok, models, snapshot } = summary
    const built = models.filter(({ status }) => status === 'built').map(({ model }) => model)
    for (const { model, status, because } of models)
      if (status === 'failed') logger.error('model-failed', { model, problem: because })
    logger.info('models-built', { ok, built, snapshot: snapshot?.id })
  } catch (error) {
    if (signal.aborted) return
    logMistakes(error, logger)
  }
}

async function run(
  { scratch, copy, logger, signal }: Saving,
  project: Project,
  compiled: CompiledProject,
): Promise<RunSummary> {
  const summary = await runPipeline({
    ...runOptionsOf(project),
    paths: scratch.paths,
    store: scratch.store,
    project: compiled,
    openClaims: null,
    isCopy: true,
    lockWaitMs: limits.runLockWaitMs,
    signal,
    progress: () => {},
    logger,
  })
  for (const { model, status } of summary.models) {
    const kind = compiled.models.get(model)?.kind
    if (status === 'built' && kind !== undefined && kinds[kind].keepsRows)
      copy.own.add(foldCase(model))
  }
  return summary
}

async function renewCopy({ scratch, copy, signal }: Saving, { paths }: Project): Promise<void> {
  const { warehouse } = openStore(paths)
  copy.isStale = false // before it is read: a run may publish meanwhile
  copy.own.clear()
  try {
    await warehouse.fork?.(scratch.paths.database, { waitMs: limits.runLockWaitMs, signal })
  } catch (error) {
    copy.isStale = true
    throw error
  }
}
