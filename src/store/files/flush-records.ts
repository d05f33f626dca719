// Which claims are committed: ack records, until the buffer has removed the segments, and the fence, which stays.

import { limits } from '../../core/limits.ts'
import type { ModelName } from '../../core/names.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import {
  type FlushedSegment,
  type FlushRecords,
  moveFences,
  positionRows,
} from '../flush-records.ts'
import type { FlushPosition } from '../state.ts'

export const fileFlushRecords: FlushRecords = {
  prepare: () => Promise.resolve(),
  adopt,
  // Nobody else has the database.
  hold: () => Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve() }),
  record,
  forget,
  async isCommitted(connection, { id }) {
    const query = sql`SELECT 1 FROM _eider.acks WHERE claim_id = ${sql.value(id)}`
    return (await connection.row(query)) !== null
  },
}

async function adopt(
  connection: Connection,
  target: ModelName,
  position: FlushPosition,
): Promise<void> {
  const rows = positionRows(target, position)
  if (rows.length > 0)
    await connection.run(sql`
      INSERT INTO _eider.flush_position (target, opening, segment, flushed_at) VALUES ${sql.join(rows)}`)
}

/** The primary key and the fence are two walls: either refuses a claim that another runner has committed. */
async function record(
  connection: Connection,
  claims: readonly FlushedSegment[],
): Promise<string | null> {
  const records = claims.map(
    ({ id, target, segment, opening, events }) =>
      sql`(${sql.values([id, target, segment, opening, events])}, now())`,
  )
  await connection.run(sql`
    INSERT INTO _eider.acks (claim_id, target, segment, opening, events, committed_at) VALUES ${sql.join(records)}`)
  const refused = await moveFences(claims, (ofOpening) => moveFence(connection, ofOpening))
  const openings = [...new Set(claims.map(({ opening }) => opening))]
  if (refused === null) await forgetOpenings(connection, claims[0]!.target, openings)
  return refused
}

/** `claims` are of one opening. */
async function moveFence(
  connection: Connection,
  claims: readonly FlushedSegment[],
): Promise<boolean> {
  const [first, last] = [claims[0]!, claims.at(-1)!]
  const moved = await connection.run(sql`
    INSERT INTO _eider.flush_position (target, opening, segment, flushed_at)
    VALUES (${sql.value(last.target)}, ${sql.value(last.opening)}, ${sql.value(last.segment)}, now())
    ON CONFLICT (target, opening) DO UPDATE SET segment = excluded.segment, flushed_at = excluded.flushed_at
    WHERE flush_position.segment < ${sql.value(first.segment)}`)
  return moved === 1
}

/**
 * Segments are committed in ascending order, so none of an opening before `current` is in the buffer any more, unless a
 * copy of it is put back. What is current stays, also by a clock that was set back.
 */
async function forgetOpenings(
  connection: Connection,
  target: ModelName,
  current: readonly number[],
): Promise<void> {
  const former = sql`FROM _eider.flush_position WHERE target = ${sql.value(target)}
    AND opening NOT IN (${sql.values(current)})`
  const kept = Math.max(0, limits.keptOpenings - current.length)
  await connection.run(sql`
    DELETE ${former} AND opening NOT IN (
      SELECT opening ${former} ORDER BY flushed_at DESC LIMIT ${sql.value(kept)})`)
}

async function forget(
  connection: Connection,
  claims: readonly Pick<FlushedSegment, 'id'>[],
): Promise<void> {
  const ids = sql.join(claims.map(({ id }) => sql.value(id)))
  await connection.run(sql`DELETE FROM _eider.acks WHERE claim_id IN (${ids})`)
}
