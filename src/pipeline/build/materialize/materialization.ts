// What a kind of model must implement. Each kind is one file here that exports one such object; all of them are in
// kinds.ts.

import type { WaitingSegment } from '../../../buffer/claim-source.ts'
import type { EventsModel, Kind, Model } from '../../../core/model.ts'
import type { ModelName } from '../../../core/names.ts'
import type { EventsVerdict, RowChanges } from '../../../core/report/planned-changes.ts'
import type { Sql } from '../../../core/sql.ts'
import type { PlannedRange, Slice } from '../../../core/step.ts'
import type { LeftRows } from '../../../store/older-rows.ts'
import type { RecordedRange } from '../../../store/state.ts'
import type { RunContext } from '../../run-context.ts'

// Methods, not properties: the one of a kind then stands for the one of any model.
export interface Materialization<M extends Model = Model> {
  /** Called before anything is built. Throws ModelFailure for what can be detected without a row of the source. */
  refuse(context: RunContext, model: M, slice: Slice): Promise<void>
  /** Why a table of this kind must not be replaced by a relation of another, with the way out; null: it may be. */
  refuseReplacement(name: ModelName, by: Kind, fullRefresh: boolean): string | null
  /** What the flags of the run make it replace or drop, one line each, besides what a full refresh drops. */
  losses(context: RunContext, model: M, slice: Slice): Promise<readonly string[]>
  /** The ranges that a step would make anew, for a kind that makes ranges. */
  ranges?(context: RunContext, model: M, slice: Slice): Promise<readonly PlannedRange[]>
  /** The statement that holds the author's SQL, in which errors of DuckDB are located; null: there is none. */
  statement(model: M, dir: string, createdIn: string | null): Sql | null
  /**
   * In the transaction of the caller, who has asked refuse(); outside of any for a kind that runs elsewhere. Throws with
   * the transaction to be rolled back.
   */
  build(context: RunContext, model: M, slice: Slice): Promise<Built>
  /** Builds in memory what build() builds in the warehouse, under the same name. */
  dryRun(context: RunContext, model: M, input: DryRunInput): Promise<DryBuilt>
  /** Columns that identify a row of the relation, whether they are exposed or not; empty: none are known. */
  rowKey(model: M): readonly string[]
  /** The rows of its table that the SELECT gave last, where the table has others too. */
  currentRows(table: Sql): Sql
}

/** What a build has done to the rows of a table. */
export interface RowCounts {
  readonly added: number
  /** Rows whose key has other values now. */
  readonly changed: number
  readonly removed: number
}

export interface Built {
  /** False when the content is what it was, so that nothing downstream needs to run. */
  readonly changed: boolean
  /** Not given for views, whose rows nobody counts, and for events, which the flush counts. */
  readonly rows?: number
  /** What was counted in a table that goes on. A table that is made from nothing has no counts. */
  readonly counts?: RowCounts
  /** What is to be remembered of ranges by which rules their rows were made, where that has changed. */
  readonly ranges?: readonly RecordedRange[]
  /** As before when it is absent. */
  readonly left?: LeftRows
}

export interface DryRunInput {
  readonly slice: Slice
  /** The relation in the warehouse; null where there is none. */
  readonly before: Sql | null
  /** Those rows of `before` that its SELECT gave last. */
  readonly current: Sql | null
  /** Makes the names of temporary tables differ from those of other models. */
  readonly unique: number
  readonly waiting: (model: EventsModel) => Promise<readonly WaitingSegment[]>
}

export interface DryBuilt {
  readonly changed: boolean
  /** Rows that the relation would have more than before; null: to be counted. */
  readonly added: number | null
  /** null: rows are not compared. */
  readonly changes: RowChanges | null
  readonly events?: EventsVerdict
  /** The periods that it made anew, for a kind that makes ranges. */
  readonly ranges?: readonly PlannedRange[]
}
