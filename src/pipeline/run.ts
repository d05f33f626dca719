// A run: lock, open, flush, build, publish, report.

import { existsSync } from 'node:fs'
import type { ClaimSource } from '../buffer/claim-source.ts'
import { databasesOf, hashFiles } from '../compiler/file-hashes.ts'
import { mistakesOfNoModel } from '../compiler/failed-models.ts'
import { allModels } from '../compiler/select.ts'
import { lineOf } from '../core/diagnostics.ts'
import type { Logger } from '../core/logger.ts'
import type { CompiledProject } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import type { ProjectPaths } from '../core/project.ts'
import type { Progress } from '../core/report/progress.ts'
import { readCatalog } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { describeResults, writeArtifacts } from './artifacts.ts'
import type { BuildContext } from './build/build.ts'
import { buildAll } from './build/build-all.ts'
import { replaceMacros } from './build/macros.ts'
import type { WatermarkRange } from './build/materialize/relation.ts'
import { chooseModels, type RunSelection } from './choose.ts'
import { explainFailure, isInterruption, toEnvironmentError } from './failure.ts'
import type { FlushStep } from './flush/flush.ts'
import { flushAll } from './flush/flush-all.ts'
import { interruptOnAbort } from './interrupt.ts'
import { readFreshness, sourcesRead } from './plan/source-age.ts'
import { RunResults, type RunSummary } from './results.ts'
import { takeRunLock } from './run-lock.ts'
import { publish } from './store/publish.ts'
import type { Retention } from './store/snapshots.ts'
import { ensureState, readState, recordRemoved, recordRun } from './store/state.ts'
import { openWarehouse, settleLog } from './store/warehouse.ts'

export interface RunOptions {
  readonly paths: ProjectPaths
  readonly project: CompiledProject
  /**
   * Opens the buffer, or the daemon that owns it; under the run lock, and no longer than the flush takes. Not called
   * where the project has no events models and nothing was ever buffered. null: there is nothing to flush.
   */
  readonly openClaims: (() => Promise<ClaimSource>) | null
  readonly threads: number | null
  readonly memoryLimit: string | null
  readonly tempDir?: string | null
  readonly maxTempSize?: string | null
  /** How long to wait for another run, and for another process that holds the warehouse. */
  readonly lockWaitMs: number
  /** When aborted, the running statement is rolled back and the rest is skipped. */
  readonly signal: AbortSignal
  readonly progress: Progress
  readonly logger: Logger
  /** Rebuild each model from nothing. Tables of events models are kept. */
  readonly fullRefresh?: boolean
  /** What the run is about; all models when there is none. */
  readonly selection?: RunSelection
  /** Models that may be built at a time; 1 when not given. */
  readonly modelsAtOnce?: number
  /** Build no further model after a failure. */
  readonly failFast?: boolean
  /** Let an empty source empty a table that mirrors it. */
  readonly allowEmpty?: boolean
  /** Replace this range of the watermark in append models. */
  readonly range?: WatermarkRange | null
  /** Published states that stay readable when newer ones have come. */
  readonly retention?: Retention
  readonly now?: () => Date
  /** For crash tests: called after each step of a flush. */
  readonly onFlushStep?: (step: FlushStep) => void | Promise<void>
}

/**
 * Mistakes in models end as results with the status `failed`, never as exceptions, and so does an abort as `skipped`.
 * Throws EnvironmentError: `run-locked`, `disk-full`, `warehouse-failed`, `file-failed`, and those of openWarehouse()
 * and openClaims().
 */
export async function runPipeline(options: RunOptions): Promise<RunSummary> {
  const { paths, project, lockWaitMs, signal, progress } = options
  const results = new RunResults(options.now?.() ?? new Date(), progress)
  const { runId } = results
  const models = allModels(project)
  results.selected = new Set(models.keys())
  progress({ event: 'run-started', runId, models: models.size })
  try {
    await using _lock = await takeRunLock(paths.runLock, lockWaitMs, signal)
    await using warehouse = await openWarehouse(options)
    await using connection = await warehouse.connect()
    await work(options, results, connection, () => warehouse.connect())
    results.skipRest('interrupted')
    const summary = results.summarize()
    // A retry that found nothing to do is not the last run: the next one still finds what the run before it left.
    const isRecorded = options.selection?.retry !== true || summary.models.length > 0
    const recordBytes = isRecorded
      ? await recordRun(connection, summary, describeResults(summary))
      : null
    await Promise.all([
      settleLog(connection, paths, isIdle(summary) ? recordBytes : null),
      writeArtifacts(paths.target, project, summary),
    ])
  } catch (error) {
    if (!isInterruption(error, signal)) throw toEnvironmentError(error)
    results.skipRest('interrupted')
  }
  const summary = results.summarize()
  progress({ event: 'run-finished', runId, ok: summary.ok, ms: summary.ms })
  return summary
}

const isIdle = ({ flushed, models }: RunSummary) =>
  flushed.length === 0 && models.every(({ status }) => status === 'unchanged')

const everything: RunSelection = { include: [], exclude: [], retry: false }

/** Flush, build in DAG order, publish. An abort ends it early, without an exception. `connect` gives further connections. */
async function work(
  options: RunOptions,
  results: RunResults,
  connection: Connection,
  connect: () => Promise<Connection>,
): Promise<void> {
  const { project, signal, modelsAtOnce = 1, failFast = false } = options
  const connections = [connection]
  using _interrupts = interruptOnAbort(connections, signal)
  try {
    const context = await prepare(options, results, connection)
    await flush(options, results, context)
    while (connections.length < Math.min(modelsAtOnce, context.selected.size))
      connections.push(await connect())
    await buildAll(context, results, project, { connections, failFast, signal })
    signal.throwIfAborted() // the next run publishes what this one built
    await markRemoved(context, project)
    await publishAll(options, results, context)
  } catch (error) {
    if (!isInterruption(error, signal)) throw error
  }
}

async function prepare(
  options: RunOptions,
  results: RunResults,
  connection: Connection,
): Promise<BuildContext> {
  const { project, paths, progress, selection = everything } = options
  const { fullRefresh = false, allowEmpty = false, range = null } = options
  const { models, macros, external } = project
  const catalog = await readCatalog(connection)
  await ensureState(connection, catalog)
  if (project.macrosAreWhole) await replaceMacros(connection, macros)
  const state = await readState(connection, models.keys())
  const fileHashes = await hashFiles(connection, paths.dir, models.values(), databasesOf(project))
  const known = { connection, state, fileHashes }
  const chosen = await chooseModels(known, allModels(project), selection)
  const selected = new Set([...chosen].filter((name) => models.has(name)))
  results.selected = chosen
  failUncompiled(project, chosen, results)
  const read = sourcesRead(models, selected)
  const tables = (external?.tables ?? []).filter(({ name }) => read.has(name))
  const freshness = await readFreshness(connection, tables, external?.away, results.startedAt)
  if (chosen.size < models.size + project.failed.size)
    progress({ event: 'models-selected', models: chosen.size })
  const others = [...state.models].filter(([name]) => !chosen.has(name))
  return {
    connection,
    catalog,
    state,
    runId: results.runId,
    dir: paths.dir,
    startedAt: results.startedAt,
    fullRefresh,
    allowEmpty,
    range,
    selected,
    versions: new Map(others.map(([name, { version }]) => [name, version])),
    fileHashes,
    freshness,
  }
}

/** A run of all models also answers for files that are no model's. */
function failUncompiled(
  project: CompiledProject,
  chosen: ReadonlySet<ModelName>,
  results: RunResults,
): void {
  const { models, failed } = project
  const isAll = chosen.size === models.size + failed.size
  results.projectIsWhole = !isAll || mistakesOfNoModel(project).length === 0
  for (const name of chosen) {
    const model = failed.get(name)
    if (model === undefined) continue
    const [first] = model.mistakes
    if (first === undefined) results.skip(name, model.failedBy)
    else results.fail(name, lineOf(first))
  }
}

async function flush(
  options: RunOptions,
  results: RunResults,
  context: BuildContext,
): Promise<void> {
  const { paths, project, logger, signal, progress, onFlushStep } = options
  const { selected } = context
  const collects = [...selected].some((name) => project.models.get(name)?.kind === 'events')
  const hasBuffer = selected.size === project.models.size && existsSync(paths.buffer)
  await flushAll(context, project, {
    openClaims: collects || hasBuffer ? options.openClaims : null,
    logger,
    signal,
    progress,
    onStep: onFlushStep,
    startedAt: results.startedAt,
    onFlushed: (model, count) => results.countFlushed(model.name, count),
    onFailure: (model, error) => {
      if (isInterruption(error, signal)) return
      results.fail(model.name, explainFailure(error, model, null))
    },
  })
}

/** Their relations stay in the warehouse: history is not the tool's to destroy. They are no longer published. */
async function markRemoved(
  { connection, state }: BuildContext,
  project: CompiledProject,
): Promise<void> {
  const gone = [...state.models].filter(
    ([name, { removed }]) => !removed && !project.models.has(name) && !project.failed.has(name),
  )
  if (gone.length > 0)
    await recordRemoved(
      connection,
      gone.map(([name]) => name),
    )
}

async function publishAll(
  { project, paths, progress, now, retention }: RunOptions,
  results: RunResults,
  { connection, versions, selected }: BuildContext,
): Promise<void> {
  const startedMs = performance.now()
  const { snapshot, changed } = await publish({
    connection,
    dir: paths.snapshots,
    runId: results.runId,
    models: project.models.values(),
    failed: project.failed,
    versions: new Map([...versions].filter(([name]) => selected.has(name))),
    now: now?.() ?? new Date(),
    ...(retention === undefined ? {} : { retention }),
    onFailure: (model, error) => results.fail(model.name, explainFailure(error, model, null)),
  })
  results.snapshot = { id: snapshot.id, changed }
  if (!changed) return
  progress({
    event: 'published',
    snapshot: snapshot.id,
    relations: snapshot.relations.length,
    ms: performance.now() - startedMs,
  })
}
