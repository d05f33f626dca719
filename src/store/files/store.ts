// The store of files: a database file that one process writes at a time, a lock file, a directory of snapshots.

import { limits } from '../../core/limits.ts'
import type { ProjectPaths } from '../../core/project.ts'
import type { Store } from '../store.ts'
import { fileCompaction } from './compaction.ts'
import { fileFlushRecords } from './flush-records.ts'
import { fileLease } from './lease.ts'
import { filePastStates } from './past-states.ts'
import { fileReader } from './reader.ts'
import { fileSnapshots } from './snapshots.ts'
import { fileState } from './state.ts'
import { fileTables } from './tables.ts'
import { fileTraces } from './traces.ts'
import { fileWarehouse } from './warehouse.ts'

export function fileStore(paths: ProjectPaths): Store {
  const lease = fileLease(paths.runLock)
  const warehouse = fileWarehouse(paths, lease)
  return {
    warehouse,
    lease,
    flushLease: lease,
    bufferLease: null,
    tables: fileTables,
    state: fileState(paths.state),
    flushed: fileFlushRecords,
    snapshots: fileSnapshots(paths.snapshots),
    openPuller: null,
    published: fileReader(paths.snapshots),
    past: filePastStates(paths),
    upkeep: null,
    compaction: fileCompaction(paths, lease, warehouse),
    traces: fileTraces(paths, lease, warehouse),
    groups: { joinMs: limits.groupMs, joinCommits: 0, heldMs: limits.groupHeldMs, apartMs: 0 },
    hasCountsAtHand: true,
    explain: (error) => error,
  }
}
