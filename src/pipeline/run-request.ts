// What is asked of a plan or a run.

import type { ClaimSource } from '../buffer/claim-source.ts'
import type { Logger } from '../core/logger.ts'
import type { CompiledProject } from '../core/model.ts'
import type { ProjectPaths } from '../core/project.ts'
import type { ContractChange } from '../core/report/planned-changes.ts'
import type { Phase, Progress, Share } from '../core/report/progress.ts'
import type { EngineUse } from '../core/report/run-profile.ts'
import type { Sample } from './borrow/sample.ts'
import type { Snapshot } from '../core/snapshot.ts'
import type { WatermarkRange } from '../core/step.ts'
import type { Database } from '../duckdb/database.ts'
import type { Retention } from '../store/snapshots.ts'
import type { Store } from '../store/store.ts'
import type { WriteOptions } from '../store/warehouse.ts'
import type { Lender } from './borrow/borrow.ts'
import type { RunSelection } from './choose.ts'
import type { FlushStep } from './flush/flush.ts'
import type { Clients } from './guard-clients.ts'
import type { NoteDraft } from './results.ts'

export interface PlanRequest {
  readonly paths: ProjectPaths
  readonly store: Store
  readonly project: CompiledProject
  /** All models when there is none. */
  readonly selection?: RunSelection
  /** Rebuild each model from nothing. Tables of events models are kept. */
  readonly fullRefresh?: boolean
  /** Rows of the selected models that older rules have made are meant to stay as they are. */
  readonly forwardOnly?: boolean
  /** Refuse a full refresh that would end a history. */
  readonly keepHistory?: boolean
  /** Let an empty source empty a table that mirrors it, and a run publish nothing over something. */
  readonly allowEmpty?: boolean
  /** Let `@keep` remove more than half of a table. */
  readonly allowRemoval?: boolean
  /** The store is a copy that nobody else looks at, so nothing is lost in it. */
  readonly isCopy?: boolean
  /** Where models that are not selected are read; in this target when absent. */
  readonly lender?: Lender | undefined
  /** Only this share is read of tables of sources, and of what is borrowed. */
  readonly sample?: Sample | undefined
  /** Replace this range of the watermark in append models, and of the column in models of periods. */
  readonly range?: WatermarkRange | null
  /** Build the range in pieces of this length. */
  readonly by?: string | null
}

/** `lockWaitMs` is for another run too; when `signal` is aborted, the running statement is rolled back and the rest skipped. */
export interface RunRequest extends PlanRequest, WriteOptions {
  /**
   * Opens the buffer, or the daemon that owns it; under the run lock, and no longer than the flush takes. Not called
   * where the project has no events models and nothing was ever buffered. null: there is nothing to flush.
   */
  readonly openClaims: (() => Promise<ClaimSource>) | null
  /** Models that may be built at a time; 1 when not given. */
  readonly modelsAtOnce?: number
  readonly failFast?: boolean
  /** Rows that each check which does not hold leaves in a file; none when not given. */
  readonly failingRows?: number
  /** Published states that stay readable when newer ones have come. */
  readonly retention?: Retention
  /** Lease and warehouse, where they were taken already; from now on they are the run's. */
  readonly ahead?: TargetAhead | null
  /** Called before the run reads any data. When not given, it notes nothing for the next one. */
  readonly draftNote?: (() => NoteDraft | null) | undefined
  /** Says what a publication changed for clients. */
  readonly contractChanges?: (
    before: Snapshot,
    after: Snapshot,
  ) => Promise<readonly ContractChange[]>
  /** What keeps sets that would break their clients as they are published; when not given, nothing does. */
  readonly clients?: Clients
  readonly now?: () => Date
  /** A performance.now() of the past: what came since, such as the compile, counts as time of the run. */
  readonly startedMs?: number
  readonly logger: Logger
  readonly progress: Progress
  readonly onPhase?: ((phase: Phase) => void) | undefined
  readonly onUse?: ((use: EngineUse) => void) | undefined
  /** Called while a flush or the publication goes on. */
  readonly onShare?: (share: Share) => void
  /** For crash tests: called after each step of a flush. */
  readonly onFlushStep?: (step: FlushStep) => void | Promise<void>
}

export interface TargetAhead extends AsyncDisposable {
  /** From now on it is the caller's to close. */
  takeWarehouse(): Promise<Database>
}

export const allModels: RunSelection = { include: [], exclude: [], retry: false }

export const isAboutAll = ({ selection = allModels }: Pick<PlanRequest, 'selection'>): boolean =>
  selection.include.length + selection.exclude.length === 0 && !selection.retry
