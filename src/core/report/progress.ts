// What a run announces while it works. The command line draws it, `--json` prints it, tests record it. So members are
// named as in JSON.

import type { Kind } from '../model.ts'
import type { ModelName } from '../names.ts'
import type { OlderRows } from '../step.ts'
import type { ChangedByHand } from './by-hand.ts'
import type { DamagedEvents } from './damaged-events.ts'
import type { ContractChange, ReadBy } from './planned-changes.ts'

export type RunEvent =
  | { readonly event: 'run-started'; readonly run_id: string; readonly models: number }
  /** Only when the run is not about all models. */
  | { readonly event: 'models-selected'; readonly models: number }
  /** Only of a run that reads from another target, or a sample. */
  | {
      readonly event: 'rows-borrowed'
      /** The other target; null: only of a sample. */
      readonly target: string | null
      readonly snapshot: string | null
      readonly published_at: string | null
      readonly models: readonly ModelName[]
      /** Models that are built along since it does not publish them. */
      readonly along: readonly ModelName[]
      readonly sample: string | null
    }
  | { readonly event: 'flush-started'; readonly model: ModelName; readonly events: number }
  | {
      readonly event: 'flush-finished'
      readonly model: ModelName
      readonly events: number
      readonly rejected: number
      readonly ms: number
    }
  /** Comes for each file with events that have changed on disk, as long as it is there. */
  | ({ readonly event: 'events-damaged'; readonly model: ModelName } & Omit<
      DamagedEvents,
      'target'
    >)
  | { readonly event: 'model-started'; readonly model: ModelName; readonly because: string }
  | ({ readonly event: 'model-finished' } & ModelResult)
  /** Comes for each table that another program has changed, as far as numbers of rows tell. */
  | ({ readonly event: 'changed-by-hand' } & ChangedByHand)
  /** No file defines it any more. Its table stays, and is no longer published. */
  | { readonly event: 'model-removed'; readonly model: ModelName }
  | {
      readonly event: 'published'
      readonly snapshot: string
      readonly relations: number
      readonly ms: number
    }
  /** What the publication changed for clients of the OData service. */
  | ({ readonly event: 'contract-change' } & ContractChange)
  | {
      readonly event: 'run-finished'
      readonly run_id: string
      readonly ok: boolean
      readonly ms: number
    }

export interface ModelResult {
  readonly model: ModelName
  /** `skipped`: an upstream failed. `unchanged`: nothing to do. */
  readonly status: 'built' | 'unchanged' | 'failed' | 'skipped'
  /** Why it was built, left alone, failed or skipped; one line. */
  readonly because: string
  readonly rows?: number
  /** One line for each `@warn` that found something, for each source that gets old, and for rows of older rules. */
  readonly warnings?: readonly string[]
  /** Rows that an older rule of the model has made; one of the warnings says so. */
  readonly older_rows?: OlderRows
  /** Who reads the set that stays as it was published, where its next shape would break them. */
  readonly read_by?: ReadBy
  /** What was done to the table; only of models that were built and are not views. */
  readonly changes?: TableChanges
  readonly ms: number
}

/**
 * How a table was changed: `rebuild`: made from nothing, `update`: it goes on, `backfill`: a range of it was replaced, `flush`:
 * events came, `restore`: rows of an earlier published state took the place of all, `erase`: rows were deleted for a person,
 * `publish`: somebody has changed it by hand, and nobody counts how.
 */
export type ChangeWay =
  'rebuild' | 'update' | 'backfill' | 'flush' | 'restore' | 'erase' | 'publish'

/** null: nobody has counted. */
export interface TableChanges {
  readonly way: ChangeWay
  readonly rows_in: number | null
  /** Rows of which a key has other values now. */
  readonly rows_changed: number | null
  /** Those of a table that is made from nothing are not counted: they are what it had before. */
  readonly rows_out: number | null
  readonly rows_after: number | null
  /** The definition of the model at that time. */
  readonly definition: string
}

/** A relation that no file of the project defines any more. */
export interface Orphan {
  readonly model: ModelName
  readonly kind: Kind
  /** null for a view. */
  readonly rows: number | null
  /** A new model with the same SQL. */
  readonly renamed_to?: ModelName
}

export type Progress = (event: RunEvent) => void

/** A part of the work on a model; for traces and profiles alone, so no event. */
export interface Phase {
  readonly model: ModelName
  readonly phase: 'build' | 'checks' | 'publish'
  readonly startedMs: number
  readonly ms: number
}

/** How far a flush, a range in pieces or the publication is; for the terminal alone, so no event. */
export interface Share {
  readonly step: 'flush' | 'pieces' | 'publish'
  readonly model: ModelName
  /** Events that are in the table, of those that were claimed; pieces that are built; or sets that are published, of all. */
  readonly done: number
  readonly total: number
}

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
  readonly byHand: readonly ChangedByHand[]
}
