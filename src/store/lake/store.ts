// The store of a target that is a lake: tables and published states in DuckLake, a lease by locks of PostgreSQL. Services
// read files that `eider pull` makes of what is published.

import { limits } from '../../core/limits.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { fileLease } from '../files/lease.ts'
import { fileReader } from '../files/reader.ts'
import type { Store } from '../store.ts'
import { explainLake } from './failures.ts'
import { lakeFlushRecords } from './flush-records.ts'
import { lakeFlushLease, lakeLease } from './lease.ts'
import { lakePastStates } from './past-states.ts'
import { openPuller } from './puller.ts'
import { LakeSession } from './session.ts'
import { lakeSnapshots } from './snapshots.ts'
import { LakeState } from './state.ts'
import { lakeTables } from './tables.ts'
import { lakeTraces } from './traces.ts'
import { lakeUpkeep } from './upkeep.ts'
import { lakeWarehouse } from './warehouse.ts'

export function lakeStore(paths: ProjectPaths): Store {
  const session = new LakeSession(paths)
  const state = new LakeState(session)
  return {
    warehouse: lakeWarehouse(session),
    lease: lakeLease(session),
    flushLease: lakeFlushLease(session),
    bufferLease: fileLease(paths.runLock),
    tables: lakeTables,
    state,
    flushed: lakeFlushRecords(session),
    snapshots: lakeSnapshots(session, state),
    openPuller: () => openPuller(session),
    published: fileReader(paths.snapshots, 'eider pull'),
    past: lakePastStates(session),
    upkeep: lakeUpkeep(session),
    compaction: null,
    groups: {
      joinMs: limits.lakeGroupMs,
      joinCommits: limits.lakeGroupCommits,
      heldMs: limits.lakeGroupHeldMs,
      apartMs: limits.lakeGroupMs,
    },
    hasCountsAtHand: false,
    traces: lakeTraces(session),
    explain: (error) => explainLake(error, session.lake),
  }
}
