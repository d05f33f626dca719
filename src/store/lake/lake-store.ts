// The store of a target that is a lake: tables and published states in DuckLake, a lease by locks of PostgreSQL. Services
// read files that `eider pull` makes of what is published.

import { EnvironmentError } from '../../core/failures.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { fileLease } from '../files/file-lease.ts'
import { fileReader } from '../files/file-reader.ts'
import type { SnapshotStore } from '../snapshot-store.ts'
import type { Store } from '../store.ts'
import { explainLake } from './lake-failures.ts'
import { lakeFlushRecords } from './lake-flush-records.ts'
import { lakeFlushLease, lakeLease } from './lake-lease.ts'
import { LakeSession } from './lake-session.ts'
import { LakeState } from './lake-state.ts'
import { lakeTables } from './lake-tables.ts'
import { lakeWarehouse } from './lake-warehouse.ts'

export function lakeStore(paths: ProjectPaths): Store {
  const session = new LakeSession(paths)
  return {
    warehouse: lakeWarehouse(session),
    lease: lakeLease(session),
    tables: lakeTables,
    flushLease: lakeFlushLease(session),
    bufferLease: fileLease(paths.runLock),
    state: new LakeState(session),
    flushed: lakeFlushRecords(session),
    snapshots: lakeSnapshots,
    published: fileReader(paths.snapshots),
    explain: (error) => explainLake(error, session.lake),
  }
}

const notYet = (what: string) => () =>
  Promise.reject(
    new EnvironmentError('lake-not-yet', `${what} does not work on a lake yet`, {
      hint: 'use a target whose database is a file',
    }),
  )

const lakeSnapshots: SnapshotStore = {
  current: () => Promise.resolve(null),
  catalog: () => Promise.resolve(null),
  writeCatalog: () => Promise.resolve(),
  async publish({ runId, now }, choose) {
    const write = notYet('@expose')
    const find = () => Promise.resolve(null)
    const relations = await choose({ current: null, find, write })
    const snapshot = { id: '', publishedAt: now, runId, relations }
    return { snapshot, before: null, changed: false }
  },
  fork: notYet('a copy of what is published'),
}
