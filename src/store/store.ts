// Where a target of a project keeps its tables and what it publishes. Runs, commands and services know these interfaces;
// which store a target has is decided in open.ts, and in traits-of.ts for those who must not load an engine.

import type { FlushRecords } from './flush-records.ts'
import type { PastStates } from './past-states.ts'
import type { RunLease } from './run-lease.ts'
import type { SnapshotReader } from './snapshot-reader.ts'
import type { Retention, SnapshotStore } from './snapshots.ts'
import type { StateStore } from './state.ts'
import type { TableStorage } from './table-storage.ts'
import type { Traces } from './traces.ts'
import type { Warehouse, WriteOptions } from './warehouse.ts'

export interface Store {
  readonly warehouse: Warehouse
  readonly lease: RunLease
  readonly flushLease: RunLease
  /** What a run needs besides its lease to flush the buffer of this machine; null: nothing. */
  readonly bufferLease: RunLease | null
  readonly tables: TableStorage
  readonly state: StateStore
  readonly flushed: FlushRecords
  readonly snapshots: SnapshotStore
  /** Brings what is published to this machine; null where it is published there. */
  readonly openPuller: (() => Promise<Puller>) | null
  readonly published: SnapshotReader
  /** For people who ask for what stood earlier. */
  readonly past: PastStates
  /** null: it needs none. */
  readonly upkeep: Upkeep | null
  /** null: nothing is to be given back. */
  readonly compaction: Compaction | null
  readonly traces: Traces
  /** How long small models may share a transaction: as long as is worth a commit. */
  readonly groups: GroupTimes
  /** Whether to ask for the number of rows of a table costs next to nothing. A catalog is sent some messages for each. */
  readonly hasCountsAtHand: boolean
  /** EnvironmentError for what is not the fault of a model but of the place where tables are; other errors as they are. */
  explain(error: unknown): unknown
}

interface GroupTimes {
  /** For so long further ones join it. */
  readonly joinMs: number
  /** Or for so many times as long as the last commit took, where it takes long because of where it goes, and not of its rows. */
  readonly joinCommits: number
  /** And so long the first one waits for its commit, or as much longer. */
  readonly heldMs: number
  /**
   * Another transaction begins beside it when it has worked at one model for so long. 0: at once. Of two that overlap the
   * second to commit may have to begin its commit anew, which is worth it only beside a model that takes long.
   */
  readonly apartMs: number
}

export interface PullOptions {
  readonly retention: Retention
  /** A state is shown so long after it was published, so that all services have it by then. */
  readonly takeUpMs: number
  readonly signal: AbortSignal
}

export interface Pulled {
  /** What services of this machine show now; null where nothing is published. */
  readonly snapshot: { readonly id: string; readonly publishedAt: Date } | null
  /** Whether they did not show it before. */
  readonly changed: boolean
  /** Files that were made, also again since they were damaged. */
  readonly files: number
  /** States that are no longer in the lake, so that nobody can pull them. */
  readonly missed: readonly string[]
}

/** One for each machine: throws EnvironmentError `pull-running` where another process has it. */
export interface Puller extends AsyncDisposable {
  pull(options: PullOptions): Promise<Pulled>
}

/** Work that a store needs from time to time: `eider maintain`. */
export interface Upkeep {
  /** Throws EnvironmentError, also `run-locked` when a run goes on for longer than `waitMs`. */
  maintain(options: UpkeepOptions): Promise<UpkeepReport>
}

export interface UpkeepOptions {
  /** Changes nothing, and reports what would be done. */
  readonly dryRun: boolean
  /** Brings the catalog to the version of this engine first. */
  readonly migrate: boolean
  readonly waitMs: number
  readonly signal: AbortSignal
}

export interface UpkeepReport {
  readonly tables: readonly TableUpkeep[]
  /** States that can no longer be read; in a dry run those that would be dropped. */
  readonly statesDropped: number
  readonly statesKept: number
  /** Objects that nothing names any more; in a dry run those that would be deleted. */
  readonly filesDeleted: number
  /** Rows of the tool's own records. */
  readonly recordsDeleted: number
}

/** `eider maintain` where tables are in a file. */
export interface Compaction {
  /** Gives the bytes of the file before and after, or, in a dry run, about how many they would be. Throws EnvironmentError. */
  compact(options: CompactionOptions): Promise<{ readonly before: number; readonly after: number }>
}

interface CompactionOptions extends WriteOptions, Pick<UpkeepOptions, 'dryRun' | 'waitMs'> {}

/** In a dry run, what is there. */
export interface TableUpkeep {
  readonly table: string
  readonly filesBefore: number
  readonly filesAfter: number
  /** Bytes of data files; files that note deleted rows are not counted. */
  readonly bytes: number
  /** Somebody else changed the table meanwhile, so that it was left as it is. */
  readonly busy: boolean
}
