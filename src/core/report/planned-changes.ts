// What a plan says of each step: made in pipeline/, drawn in cli/, printed as JSON (docs/commands.md).

import type { FailedModel, Model } from '../model.ts'
import type { Step } from '../step.ts'

export interface PlannedStep extends Step<Model | FailedModel> {
  readonly columns: readonly PlannedColumn[]
  /** What happens to the waiting events; null where that was not tried. */
  readonly events: EventsVerdict | null
  /** null without a diff, and for a model that is not built or fails. */
  readonly diff: ModelDiff | null
}

/** What the next publication changes for clients of the OData service. */
export interface ContractChange {
  readonly set: string
  /** One line. */
  readonly change: string
  /** A client that works today may fail. */
  readonly breaking: boolean
}

export interface PlannedColumn {
  readonly column: string
  /** null: the column is new. */
  readonly from: string | null
  /** null: the column is gone. */
  readonly to: string | null
  /** The name that it has in the table. */
  readonly renamedFrom?: string
}

export interface ModelDiff {
  /** null: there is no table yet, or it is a view that is not published, whose rows nobody counts. */
  readonly rowsBefore: number | null
  readonly rowsAfter: number | null
  /** null: rows are not compared. */
  readonly changes: RowChanges | null
  /** One line for each `@warn` that finds something. */
  readonly warnings: readonly string[]
}

export interface RowChanges {
  readonly inserted: number
  readonly changed: number
  readonly removed: number
  /** Columns that tell rows apart. Empty: whole rows are compared, so none counts as changed. */
  readonly key: readonly string[]
  /** At most limits.plannedRows of each sort, in the order of their keys. */
  readonly sample: readonly RowChange[]
}

/** Values are texts, cut at limits.shownRowCharacters; null is NULL. */
export type Values = Readonly<Record<string, string | null>>

export type RowChange =
  | { readonly change: 'inserted' | 'removed'; readonly row: Values }
  | {
      readonly change: 'changed'
      readonly key: Values
      /** Those whose value differs. */
      readonly columns: Readonly<
        Record<string, { readonly from: string | null; readonly to: string | null }>
      >
    }

/** What happens to events that wait in the buffer. */
export interface EventsVerdict {
  readonly waiting: number
  readonly rejected: number
  /** Of events that were rejected before and fit now. */
  readonly retried: number
  /** At most limits.plannedReasons, those of most events first. */
  readonly reasons: readonly RejectionReason[]
}

interface RejectionReason {
  /** Of the first of the events. */
  readonly reason: string
  readonly events: number
  /** Sequence number of the first of the events. */
  readonly first: number
}
