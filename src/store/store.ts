// Where a target of a project keeps its tables and what it publishes. Runs, commands and services know these interfaces;
// which store a target has is decided in open.ts, and in traits-of.ts for those who must not load an engine.

import type { FlushRecords } from './flush-records.ts'
import type { Puller } from './pull.ts'
import type { RunLease } from './run-lease.ts'
import type { SnapshotReader } from './snapshot-reader.ts'
import type { SnapshotStore } from './snapshots.ts'
import type { StateStore } from './state.ts'
import type { TableStorage } from './table-storage.ts'
import type { Upkeep } from './upkeep.ts'
import type { Warehouse } from './warehouse.ts'

export interface Store {
  readonly warehouse: Warehouse
  readonly lease: RunLease
  /** For a flush outside a run. */
  readonly flushLease: RunLease
  /** What a run needs besides its lease to flush the buffer of this machine; null: nothing. */
  readonly bufferLease: RunLease | null
  readonly tables: TableStorage
  readonly state: StateStore
  readonly flushed: FlushRecords
  /** For runs. */
  readonly snapshots: SnapshotStore
  /** Brings what is published to this machine; null where it is published there. */
  readonly openPuller: (() => Promise<Puller>) | null
  /** For services. */
  readonly published: SnapshotReader
  /** null: it needs none. */
  readonly upkeep: Upkeep | null
  /** EnvironmentError for what is not the fault of a model but of the place where tables are; other errors as they are. */
  explain(error: unknown): unknown
}
