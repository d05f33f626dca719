// Which claims are committed: ack records, until the buffer has removed the segments, and the fence, which stays.

import type { Claim } from '../../buffer/claim-source.ts'
import { limits } from '../../core/limits.ts'
import type { ModelName } from '../../core/names.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ModelFailure } from '../failure.ts'

/**
 * The primary key and the fence are two walls: either refuses a claim that another runner has committed. `claims` are of
 * one target and ascend.
 */
export async function recordAcks(connection: Connection, claims: readonly Claim[]): Promise<void> {
  const records = claims.map(
    ({ id, target, segment, opening, events }) =>
      sql`(${sql.join([id, target, segment, opening, events].map((value) => sql.value(value)))}, now())`,
  )
  await connection.run(sql`
    INSERT INTO _eider.acks (claim_id, target, segment, opening, events, committed_at) VALUES ${sql.join(records)}`)
  const openings = [...new Set(claims.map(({ opening }) => opening))]
  for (const opening of openings)
    await moveFence(
      connection,
      claims.filter((claim) => claim.opening === opening),
    )
  await forgetOpenings(connection, claims[0]!.target, openings)
}

/** `claims` are of one opening. */
async function moveFence(connection: Connection, claims: readonly Claim[]): Promise<void> {
  const [first, last] = [claims[0], claims.at(-1)]
  if (first === undefined || last === undefined) return
  const moved = await connection.run(sql`
    INSERT INTO _eider.flush_position (target, opening, segment, flushed_at)
    VALUES (${sql.value(last.target)}, ${sql.value(last.opening)}, ${sql.value(last.segment)}, now())
    ON CONFLICT (target, opening) DO UPDATE SET segment = excluded.segment, flushed_at = excluded.flushed_at
    WHERE flush_position.segment < ${sql.value(first.segment)}`)
  if (moved !== 1) throw new ModelFailure(`another run has flushed ${first.id} meanwhile`)
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
    AND opening NOT IN (${sql.join(current.map((opening) => sql.value(opening)))})`
  const kept = Math.max(0, limits.keptOpenings - current.length)
  await connection.run(sql`
    DELETE ${former} AND opening NOT IN (
      SELECT opening ${former} ORDER BY flushed_at DESC LIMIT ${sql.value(kept)})`)
}

export async function deleteAcks(
  connection: Connection,
  claims: readonly Pick<Claim, 'id'>[],
): Promise<void> {
  const ids = sql.join(claims.map(({ id }) => sql.value(id)))
  await connection.run(sql`DELETE FROM _eider.acks WHERE claim_id IN (${ids})`)
}
