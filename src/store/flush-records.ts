// Which segments of the buffers are in the tables. What the eight steps of a flush are: pipeline/flush/flush.ts.

import type { ModelName } from '../core/names.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import type { AckRecord, FlushPosition } from './state.ts'

export interface FlushRecords {
  /** In the transaction that makes the table of events, for a target that may be new. */
  prepare(connection: Connection, target: ModelName): Promise<void>
  /** In the transaction that makes the records of a target: what is in its table already, also when that is nothing. */
  adopt(connection: Connection, target: ModelName, position: FlushPosition): Promise<void>
  /** The turn of this machine to move events of the target, until it is disposed of. It keeps order, nothing more. */
  hold(target: ModelName, signal: AbortSignal): Promise<AsyncDisposable>
  /**
   * In the transaction that inserts the events. `segments` are of one target and ascend. Returns the id of one that
   * another process has committed meanwhile, and then the transaction must be rolled back; else null.
   */
  record(connection: Connection, segments: readonly FlushedSegment[]): Promise<string | null>
  /** The buffer has removed them. */
  forget(connection: Connection, segments: readonly Pick<FlushedSegment, 'id'>[]): Promise<void>
  /** Asked after a failure, outside of its transaction: whether the events are in the table all the same. */
  isCommitted(connection: Connection, segment: FlushedSegment): Promise<boolean>
}

export const positionRows = (target: ModelName, position: FlushPosition): readonly Sql[] =>
  Array.from(
    position,
    ([opening, segment]) =>
      sql`(${sql.value(target)}, ${sql.value(opening)}, ${sql.value(segment)}, now())`,
  )

/**
 * Moves the fence of each opening by its segments. Returns the id of one that another process has committed meanwhile: then
 * `move` has given false.
 */
export async function moveFences(
  segments: readonly FlushedSegment[],
  move: (ofOpening: readonly FlushedSegment[]) => Promise<boolean>,
): Promise<string | null> {
  for (const opening of new Set(segments.map((segment) => segment.opening))) {
    const ofOpening = segments.filter((segment) => segment.opening === opening)
    if (!(await move(ofOpening))) return ofOpening[0]!.id
  }
  return null
}

export interface FlushedSegment extends AckRecord {
  readonly segment: number
  readonly events: number
}
