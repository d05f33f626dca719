// Where the numbers of `eider collect status` come from: the daemon or the buffer on disk, and the warehouse.

import type { AdminClient } from '../collect/admin/admin-client.ts'
import type { EventBuffer } from '../buffer/buffer.ts'
import type { CollectStatus, TargetStatus } from '../core/report/collect-status.ts'
import { EnvironmentError } from '../core/failures.ts'
import type { Logger } from '../core/logger.ts'
import type { ModelName } from '../core/names.ts'
import { sql } from '../core/sql.ts'
import { DatabaseError } from '../duckdb/errors.ts'
import type { Project } from '../project/project.ts'
import { openStore } from '../store/open.ts'
import type { Warehouse } from '../store/warehouse.ts'
import { openBufferOrDaemon } from '../wiring/claims.ts'

type Waiting = Omit<TargetStatus, 'rejected'>

export async function readStatus(project: Project, logger: Logger): Promise<CollectStatus> {
  const source = await readWaiting(project, logger)
  const { counts, unknown } = await readRejected(openStore(project.paths).warehouse)
  const waiting = new Map(source.targets.map((target) => [target.target, target]))
  const names = [...new Set([...waiting.keys(), ...counts.keys()])].toSorted()
  const targets = names.map((name): TargetStatus => {
    const known = waiting.get(name) ?? nothingWaits(name, source.daemon)
    return { ...known, rejected: unknown === null ? (counts.get(name) ?? 0) : null }
  })
  const { daemon, damaged } = source
  const kept = damaged.length > 0 && { damaged }
  return { daemon, targets, ...kept, rejected_unknown: unknown }
}

async function readWaiting(project: Project, logger: Logger) {
  await using source = await openBufferOrDaemon(project, 'status', logger)
  const damaged = await source.damaged()
  if ('backlog' in source) return { daemon: true, targets: await ofDaemon(source), damaged }
  return { daemon: false, targets: onDisk(source), damaged }
}

async function ofDaemon(daemon: AdminClient): Promise<readonly Waiting[]> {
  return (await daemon.backlog()).map(({ events, inflight, ...rest }) => ({
    ...rest,
    buffered: events - inflight,
    claimed: inflight,
  }))
}

function onDisk(buffer: EventBuffer): readonly Waiting[] {
  const { targets } = buffer.stats()
  return Array.from(targets, ([target, { buffered, claimed, bytes, oldest }]) => {
    return { target, buffered, claimed, bytes, oldest, rate: null }
  })
}

const nothingWaits = (target: ModelName, hasDaemon: boolean): Waiting => ({
  target,
  buffered: 0,
  claimed: 0,
  bytes: 0,
  oldest: null,
  rate: hasDaemon ? 0 : null,
})

/**
 * A warehouse that a run holds cannot be read meanwhile; reading it takes some milliseconds, for which a run waits. `unknown`:
 * why the counts are.
 */
async function readRejected(warehouse: Warehouse) {
  const counts = new Map<ModelName, number>()
  try {
    if (!(await warehouse.exists())) return { counts, unknown: null }
    await using database = await warehouse.openToRead({ memoryLimit: null, threads: 1 })
    await using connection = await database.connect()
    const rows = await connection.rows(
      sql`SELECT target, count(*)::INTEGER AS events FROM _eider.rejected_events GROUP BY target`,
    )
    for (const { target, events } of rows) counts.set(target as ModelName, Number(events))
    return { counts, unknown: null }
  } catch (error) {
    if (error instanceof DatabaseError) return { counts, unknown: error.message.split('\n')[0]! }
    if (!(error instanceof EnvironmentError)) throw error
    const isHeld = error.code === 'warehouse-locked'
    return { counts, unknown: isHeld ? 'a run has the warehouse open' : error.message }
  }
}
