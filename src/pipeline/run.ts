// A run: lock, open, flush, build in DAG order, publish, report.

import { existsSync } from 'node:fs'
import type { ClaimSource } from '../buffer/claim-source.ts'
import { databasesOf, hashFiles } from '../compiler/source-files.ts'
import type { Logger } from '../core/logger.ts'
import type { CompiledProject } from '../core/model.ts'
import type { Progress } from '../core/progress.ts'
import type { ProjectPaths } from '../core/project.ts'
import { sql } from '../core/sql.ts'
import { readCatalog } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { runResults, writeArtifacts } from './artifacts.ts'
import type { BuildContext } from './build.ts'
import { buildAll } from './build-all.ts'
import { chooseModels, type RunSelection } from './choose.ts'
import { explainFailure, isInterruption, toEnvironmentError } from './failure.ts'
import type { FlushStep } from './flush.ts'
import { flushAll } from './flush-all.ts'
import { readFreshness, sourcesRead } from './freshness.ts'
import { interruptOnAbort } from './interrupt.ts'
import { Ledger, type RunSummary } from './ledger.ts'
import type { WatermarkRange } from './materialize/relation.ts'
import { publish } from './publish.ts'
import { takeRunLock } from './run-lock.ts'
import { replaceMacros } from './macros.ts'
import type { Retention } from './snapshots.ts'
import { ensureState, readState, recordRemoved, recordRun } from './state.ts'
import { openWarehouse } from './warehouse.ts'

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

const allModels: RunSelection = { include: [], exclude: [], retry: false }

/**
 * Mistakes in models end as results with the status `failed`, never as exceptions, and so does an abort as `skipped`.
 * Throws EnvironmentError: `run-locked`, `disk-full`, `warehouse-failed`, `file-failed`, and those of openWarehouse()
 * and openClaims().
 */
export async function runPipeline(options: RunOptions): Promise<RunSummary> {
  const { paths, project, lockWaitMs, signal, progress } = options
  const ledger = new Ledger(options.now?.() ?? new Date(), progress)
  const { runId } = ledger
  ledger.selected = new Set(project.models.keys())
  progress({ event: 'run-started', runId, models: project.models.size })
  try {
    await using _lock = await takeRunLock(paths.runLock, lockWaitMs, signal)
    await using warehouse = await openWarehouse(options)
    await using connection = await warehouse.connect()
    await work(options, ledger, connection, () => warehouse.connect())
    const summary = ledger.summarize()
    await recordRun(connection, summary, runResults(summary))
    await Promise.all([checkpoint(connection), writeArtifacts(paths.target, project, summary)])
  } catch (error) {
    if (!isInterruption(error, signal)) throw toEnvironmentError(error)
  }
  const summary = ledger.summarize()
  progress({ event: 'run-finished', runId, ok: summary.ok, ms: summary.ms })
  return summary
}

/**
 * As the engine does when it closes, which would hold up this thread. What fails stays in the write-ahead log, whole, as
 * it does there.
 */
async function checkpoint(connection: Connection): Promise<void> {
  await connection.run(sql`CHECKPOINT`).catch(() => {})
}

async function work(
  options: RunOptions,
  ledger: Ledger,
  connection: Connection,
  connect: () => Promise<Connection>,
): Promise<void> {
  const { project, signal, modelsAtOnce = 1, failFast = false } = options
  const connections = [connection]
  using _interrupts = interruptOnAbort(connections, signal)
  try {
    const context = await prepare(options, ledger, connection)
    await flush(options, ledger, context)
    while (connections.length < Math.min(modelsAtOnce, context.selected.size))
      connections.push(await connect())
    await buildAll(context, ledger, project, { connections, failFast, signal })
    signal.throwIfAborted() // the next run publishes what this one built
    await forgetRemoved(context, project)
    await publishAll(options, ledger, context)
  } catch (error) {
    if (!isInterruption(error, signal)) throw error
  }
}

async function prepare(
  options: RunOptions,
  ledger: Ledger,
  connection: Connection,
): Promise<BuildContext> {
  const { project, paths, progress, selection = allModels } = options
  const { fullRefresh = false, allowEmpty = false, range = null } = options
  const { models, macros, external } = project
  const catalog = await readCatalog(connection)
  await ensureState(connection, catalog)
  await replaceMacros(connection, macros)
  const state = await readState(connection, models.keys())
  const fileHashes = await hashFiles(connection, paths.dir, models.values(), databasesOf(project))
  const selected = await chooseModels({ connection, state, fileHashes }, models, selection)
  ledger.selected = selected
  const read = sourcesRead(models, selected)
  const tables = (external?.tables ?? []).filter(({ name }) => read.has(name))
  const freshness = await readFreshness(connection, tables, ledger.startedAt)
  if (selected.size < models.size) progress({ event: 'models-selected', models: selected.size })
  const others = [...state.models].filter(([name]) => !selected.has(name))
  return {
    connection,
    catalog,
    state,
    runId: ledger.runId,
    dir: paths.dir,
    startedAt: ledger.startedAt,
    fullRefresh,
    allowEmpty,
    range,
    selected,
    versions: new Map(others.map(([name, { version }]) => [name, version])),
    fileHashes,
    freshness,
  }
}

async function flush(options: RunOptions, ledger: Ledger, context: BuildContext): Promise<void> {
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
    startedAt: ledger.startedAt,
    onFlushed: (model, count) => ledger.countFlushed(model.name, count),
    onFailure: (model, error) => {
      if (isInterruption(error, signal)) return
      ledger.fail(model.name, explainFailure(error, model, null))
    },
  })
}

/** Their relations stay in the warehouse: history is not the tool's to destroy. They are no longer published. */
async function forgetRemoved(
  { connection, state }: BuildContext,
  project: CompiledProject,
): Promise<void> {
  const gone = [...state.models].filter(
    ([name, { removed }]) => !removed && !project.models.has(name),
  )
  if (gone.length > 0)
    await recordRemoved(
      connection,
      gone.map(([name]) => name),
    )
}

async function publishAll(
  { project, paths, progress, now, retention }: RunOptions,
  ledger: Ledger,
  { connection, versions, selected }: BuildContext,
): Promise<void> {
  const startedMs = performance.now()
  const { snapshot, changed } = await publish({
    connection,
    dir: paths.snapshots,
    runId: ledger.runId,
    models: project.models.values(),
    versions: new Map([...versions].filter(([name]) => selected.has(name))),
    now: now?.() ?? new Date(),
    ...(retention === undefined ? {} : { retention }),
    onFailure: (model, error) => ledger.fail(model.name, explainFailure(error, model, null)),
  })
  ledger.snapshot = { id: snapshot.id, changed }
  if (!changed) return
  progress({
    event: 'published',
    snapshot: snapshot.id,
    relations: snapshot.relations.length,
    ms: performance.now() - startedMs,
  })
}
