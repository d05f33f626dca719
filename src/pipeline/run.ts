// A run: lock, open, work (work.ts), report.

import type { ClaimSource } from '../buffer/claim-source.ts'
import type { Logger } from '../core/logger.ts'
import type { CompiledProject } from '../core/model.ts'
import type { Progress } from '../core/report/progress.ts'
import type { ProjectPaths } from '../core/project.ts'
import { runResults, writeArtifacts } from './artifacts.ts'
import type { RunSelection } from './choose.ts'
import { isInterruption, toEnvironmentError } from './failure.ts'
import type { FlushStep } from './flush/flush.ts'
import { Ledger, type RunSummary } from './results.ts'
import type { WatermarkRange } from './build/materialize/relation.ts'
import { takeRunLock } from './run-lock.ts'
import type { Retention } from './store/snapshots.ts'
import { recordRun } from './store/state.ts'
import { openWarehouse, settleLog } from './store/warehouse.ts'
import { work } from './work.ts'

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
  const ledger = new Ledger(options.now?.() ?? new Date(), progress)
  const { runId } = ledger
  ledger.selected = new Set(project.models.keys())
  progress({ event: 'run-started', runId, models: project.models.size })
  try {
    await using _lock = await takeRunLock(paths.runLock, lockWaitMs, signal)
    await using warehouse = await openWarehouse(options)
    await using connection = await warehouse.connect()
    await work(options, ledger, connection, () => warehouse.connect())
    ledger.skipRest('interrupted')
    const summary = ledger.summarize()
    // A retry that found nothing to do is not the last run: the next one still finds what the run before it left.
    const isRecorded = options.selection?.retry !== true || summary.models.length > 0
    const recordBytes = isRecorded
      ? await recordRun(connection, summary, runResults(summary))
      : null
    await Promise.all([
      settleLog(connection, paths, isIdle(summary) ? recordBytes : null),
      writeArtifacts(paths.target, project, summary),
    ])
  } catch (error) {
    if (!isInterruption(error, signal)) throw toEnvironmentError(error)
    ledger.skipRest('interrupted')
  }
  const summary = ledger.summarize()
  progress({ event: 'run-finished', runId, ok: summary.ok, ms: summary.ms })
  return summary
}

const isIdle = ({ flushed, models }: RunSummary) =>
  flushed.length === 0 && models.every(({ status }) => status === 'unchanged')
