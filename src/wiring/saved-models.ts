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
import type { RunSummary } from '../core/report/run-summary.ts'
import { runPipeline } from '../pipeline/run.ts'
import { makeScratch, type Scratch } from '../pipeline/scratch.ts'
import type { Project } from '../project/project.ts'
import { openStore } from '../store/open.ts'
import type { SnapshotReader } from '../store/snapshot-reader.ts'
import { ProjectWatch } from '../project/watch.ts'
import { logMistakes } from './log-mistakes.ts'
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

export class SavedModels implements AsyncDisposable {
  readonly #options: SavedModelsOptions
  readonly #scratch: Scratch
  readonly #resources: Resources
  readonly #copy: Copy

  private constructor(
    options: SavedModelsOptions,
    scratch: Scratch,
    copy: Copy,
    resources: Resources,
  ) {
    this.#options = options
    this.#scratch = scratch
    this.#copy = copy
    this.#resources = resources
  }

  /** Builds what is saved now, and each change from then on. Throws EnvironmentError as the warehouse does. */
  static async open(options: SavedModelsOptions): Promise<SavedModels> {
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
    const saved = new SavedModels(options, scratch, copy, resources.move())
    await saved.#build()
    files.onChange(() => saved.#build())
    return saved
  }

  /** What is to be served. */
  get published(): SnapshotReader {
    return this.#scratch.store.published
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources[Symbol.asyncDispose]()
  }

  /** Never throws: what is wrong is logged, and the next change is another try. */
  async #build(): Promise<void> {
    const { load, logger, signal } = this.#options
    try {
      const project = await load()
      const compiled = withoutMistakes(
        await compileOnce(project.files, { ...project.paths, save: true }),
      )
      if (this.#copy.isStale) await this.#renewCopy(project)
      let summary = await this.#run(project, compiled)
      // A model may be blocked by what was saved here before, which no run of the project has seen.
      const isOwn = ({ model }: { readonly model: string }) => this.#copy.own.has(foldCase(model))
      if (summary.models.some((result) => result.status === 'failed' && isOwn(result))) {
        await this.#renewCopy(project)
        summary = await this.#run(project, compiled)
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

  async #run(project: Project, compiled: CompiledProject): Promise<RunSummary> {
    const { logger, signal } = this.#options
    const summary = await runPipeline({
      ...runOptionsOf(project),
      paths: this.#scratch.paths,
      store: this.#scratch.store,
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
        this.#copy.own.add(foldCase(model))
    }
    return summary
  }

  async #renewCopy({ paths }: Project): Promise<void> {
    const { signal } = this.#options
    const { warehouse } = openStore(paths)
    this.#copy.isStale = false // before it is read: a run may publish meanwhile
    this.#copy.own.clear()
    try {
      await warehouse.fork?.(this.#scratch.paths.database, { waitMs: limits.runLockWaitMs, signal })
    } catch (error) {
      this.#copy.isStale = true
      throw error
    }
  }
}
