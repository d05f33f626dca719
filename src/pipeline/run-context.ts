// What a run or a plan knows when it begins to build: made once (read-context.ts), handed to everything below.

import type { CompiledProject, Model } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import type { Sample } from './borrow/sample.ts'
import type { ProjectPaths } from '../core/project.ts'
import type { Column } from '../core/relation.ts'
import type { OldRows } from '../core/retention.ts'
import type { Phase, Share } from '../core/report/progress.ts'
import type { EngineCatalog } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import type { Borrowed } from './borrow/borrow.ts'
import type { ChangeNotes, ColumnValues } from './changes/change-notes.ts'
import type { PartsBefore } from './rules/recorded.ts'
import type { SourceAge } from './plan/source-age.ts'
import type { ModelRecord, State } from '../store/state.ts'
import type { Store } from '../store/store.ts'

export interface RunContext {
  readonly store: Store
  readonly connection: Connection
  readonly paths: ProjectPaths
  readonly failingRows?: number | undefined
  readonly project: CompiledProject
  readonly runId: string
  /** When the run started: the time from which new versions of scd2 rows are valid. */
  readonly startedAt: Date
  readonly signal: AbortSignal
  readonly onPhase?: ((phase: Phase) => void) | undefined
  readonly onShare?: ((share: Share) => void) | undefined
  /** Rebuild from nothing, also where that ends a history (`--full-refresh`). */
  readonly fullRefresh: boolean
  /** Rows of older rules are meant to stay as they are (`--forward-only`). */
  readonly forwardOnly: boolean
  /** Let an empty source empty a table that mirrors it (`--allow-empty`). */
  readonly allowEmpty: boolean
  /** What is read from another target (`--from`); null: nothing. */
  readonly borrowed: Borrowed | null
  /** The share that is read of tables of sources and of what is borrowed; null: all. */
  readonly sample: Sample | null
  /** Let `@keep` remove more than half of a table (`--allow-removal`). */
  readonly allowRemoval: boolean
  /** Rows that are older than their model keeps them, as they were when the steps were made. */
  readonly oldRows: Map<ModelName, OldRows>
  /** Values that rows had, by which others read them, of those that were too old before any came. */
  readonly oldValues: Map<ModelName, ColumnValues>
  /** The database that a statement names which creates a relation; null: names mean it anyway. */
  readonly createdIn: string | null
  /** The models that the run is about, also those that do not compile. */
  readonly chosen: ReadonlySet<ModelName>
  /** Those of them that compile, in DAG order. */
  readonly selected: ReadonlySet<ModelName>
  /** Kept up to date while models are committed. */
  readonly catalog: EngineCatalog
  readonly state: State
  /** Models whose table held rows that nothing can make again, and is gone: somebody dropped it, or an older file is there. */
  readonly lost: ReadonlySet<ModelName>
  /** Models of periods of which some were never built. */
  readonly withGaps: ReadonlySet<ModelName>
  /** Hashes of the files that models read, by the names in `model.files`. */
  readonly fileHashes: ReadonlyMap<string, string>
  /** The ages of sources that say when they were loaded, by name. */
  readonly sourceAges: ReadonlyMap<string, SourceAge>
  /**
   * Columns of a relation as earlier runs left it, read from DuckDB once; null: there is none, or it is a view whose
   * tables have changed under it. A build asks by its own connection: that of another may be interrupted.
   */
  readonly columnsBefore: (
    connection: Connection,
    name: ModelName,
  ) => Promise<readonly Column[] | null>
  /** The version that a model has now; undefined when it was never built. */
  readonly versionOf: (name: ModelName) => string | undefined
  /** What builds say of what they change. */
  readonly changes: ChangeNotes
  /** What is recorded of the rules by which rows were made, read once. */
  readonly partsBefore: PartsBefore
}

/** What an earlier run created under the name of the model; null when none did. */
export const recordOf = (
  { state }: Pick<RunContext, 'state'>,
  { name }: Model,
): ModelRecord | null => state.models.get(name) ?? null
