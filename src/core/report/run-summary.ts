// How a run went: what its results say when it ends.

import type { ModelName } from '../names.ts'
import type { ModelResult, Orphan } from './progress.ts'

/** Events of one model that a run took from the buffer. */
export interface FlushCount {
  readonly events: number
  readonly rejected: number
}

export interface RunSummary {
  readonly runId: string
  /** Every model is built or unchanged, and no event has changed on disk. */
  readonly ok: boolean
  readonly startedAt: Date
  readonly ms: number
  readonly flushed: readonly (FlushCount & { readonly model: ModelName })[]
  /** In the order of the DAG. */
  readonly models: readonly ModelResult[]
  /** null when the run was interrupted before it published. */
  readonly snapshot: { readonly id: string; readonly changed: boolean } | null
  /** Orphans: what no file creates any more; only runs of all models look for them. */
  readonly orphans: readonly Orphan[]
}
