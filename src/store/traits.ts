// What commands have to know of a target before its store is opened. No engine is loaded for it.

import type { Catalog } from '../core/catalog.ts'
import type { Stamp } from '../files/stamps.ts'
import type { RunLease } from './run-lease.ts'
import type { Retention, SnapshotStore } from './snapshots.ts'

export interface TargetTraits {
  /** Equal for targets with the same tables. */
  readonly place: string
  /** Where its tables are written; null: on no disk of this machine. */
  readonly directory: string | null
  /** Whether `eider pull` has to bring its published state to this machine. */
  readonly isPulled: boolean
  /** What its catalog says of each model; null where nothing is published on this machine. */
  readStates(): Promise<Catalog['states'] | null>
  /** Whether the keys of servers are needed to open it. */
  readonly hasKeys: boolean
  /** Whether its tables may be built from the published state of another target. */
  readonly borrows: boolean
  /** Throws EnvironmentError where nobody can tell whether anything is there. */
  requireReadable(): Promise<void>
  /** Where it is absent, a run has to open the target to know that there is nothing to do. */
  readonly idle?: IdleTarget
}

/** What a run needs of a target to find, without the engine, that it has nothing to do there (pipeline/idle.ts). */
export interface IdleTarget {
  readonly lease: RunLease
  readonly snapshots: SnapshotStore
  /** A stamp of all that a run finds in the target; null: it has more to do, or may have without a change. */
  stamp(retention: Retention): Promise<TargetStamp | null>
  /** Results of runs that are not recorded yet, oldest first, as JSON. */
  waitingRuns(): Promise<readonly string[]>
  /** The next command that changes the target records it. On disk when it resolves. */
  addWaitingRun(runId: string, results: string): Promise<void>
}

export interface TargetStamp {
  readonly text: string
  /** When what is published was last changed, in milliseconds of Unix time. */
  readonly publishedMs: Stamp['changedMs']
}
