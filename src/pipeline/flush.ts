// From the buffer into the tables, each accepted event once.
//
//   1 claim a batch from the buffer     5 write the ack record, move the fence
//   2 load it into a temporary table    6 COMMIT
//   3 BEGIN                             7 ack the buffer: the segment is gone
//   4 INSERT INTO the target table      8 delete the ack record
//
// A crash before 6 leaves the segment in the buffer and nothing in the table; the next run flushes it under the same
// claim id. A crash after 6 leaves an ack record; the next run does steps 7 and 8. Segments of a target are committed
// in ascending order, and `_eider.flush_position` refuses one at or below the last: a runner that slept through
// another's recovery cannot insert again, also after step 8.

import type { Claim, ClaimSource } from '../buffer/claim-source.ts'
import type { Logger } from '../core/logger.ts'
import type { EventsModel } from '../core/model.ts'
import type { Progress } from '../core/progress.ts'
import { sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import { ModelFailure } from './failure.ts'
import { dropBatch, insertBatch, loadBatch } from './load-batch.ts'
import { relationOf } from './materialize/relation.ts'
import type { AckRecord, FlushPosition } from './state.ts'

export type FlushStep =
  | 'claimed'
  | 'loaded'
  | 'begun'
  | 'inserted'
  | 'recorded'
  | 'committed'
  | 'acked'
  | 'record-deleted'

export interface FlushDependencies {
  readonly connection: Connection
  readonly claims: ClaimSource
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly progress: Progress
  /** Called after each step; crash tests end the process there. */
  readonly onStep?: ((step: FlushStep) => void | Promise<void>) | undefined
}

export interface FlushCount {
  readonly events: number
  readonly rejected: number
}

/** First thing in a run: batches that were committed, but not cleaned up. Steps 7 and 8 change nothing when repeated. */
export async function finishCommitted(
  deps: FlushDependencies,
  acks: readonly AckRecord[],
): Promise<void> {
  for (const ack of acks) {
    const open = await deps.claims.inflight(ack.target)
    if (open.some(({ id }) => id === ack.id)) await deps.claims.ack(ack)
    await deleteAck(deps.connection, ack)
    deps.logger.info('flush-recovered', { claim: ack.id })
  }
}

/**
 * Flushes what was buffered for a model when the run began, ascending. `count` is told after each commit, so that it
 * is right also when a later batch throws. A batch that throws is back in the buffer.
 */
export async function flushTarget(
  deps: FlushDependencies,
  model: EventsModel,
  fence: FlushPosition | null,
  runStartedAt: Date,
  count: (flushed: FlushCount) => void,
): Promise<void> {
  const { claims, progress, signal } = deps
  // What an earlier run left open is not committed, or finishCommitted() had removed it. The buffer takes it back and
  // hands everything out again, oldest first and under the same ids.
  for (const claim of await claims.inflight(model.name)) await claims.nack(claim)
  let position = fence
  while (!signal.aborted) {
    const startedAt = performance.now()
    const claim = await claims.claim(model.name) // step 1
    if (claim === null) break
    await deps.onStep?.('claimed')
    if (position !== null && claim.segment <= position.segment) {
      await removeReturned(deps, claim, position)
      continue
    }
    progress({ event: 'flush-started', model: model.name, events: claim.events })
    const flushed = await flushClaim(deps, model, claim)
    count(flushed)
    const ms = performance.now() - startedAt
    progress({ event: 'flush-finished', model: model.name, ...flushed, ms })
    position = { segment: claim.segment, flushedAt: new Date() }
    // This one holds events younger than the run, so all older ones are in. A busy target would never end otherwise.
    if (new Date(claim.newest) >= runStartedAt) break
  }
  if (position !== fence) await dropBatch(deps.connection)
}

async function flushClaim(deps: FlushDependencies, model: EventsModel, claim: Claim) {
  const { connection, claims, onStep } = deps
  const committed = async () => {
    const batch = await loadBatch(connection, model, claim) // step 2
    await onStep?.('loaded')
    await connection.transact(async () => {
      // step 3
      await onStep?.('begun')
      await insertBatch(connection, relationOf(model.name), claim, batch) // step 4
      await onStep?.('inserted')
      await recordAck(connection, claim) // step 5
      await onStep?.('recorded')
    }) // step 6
    await onStep?.('committed')
    return batch
  }
  const batch = await committed().catch(async (error: unknown) => {
    await giveBack(deps, claim)
    throw error
  })
  await claims.ack(claim) // step 7
  await onStep?.('acked')
  await deleteAck(connection, claim) // step 8
  await onStep?.('record-deleted')
  return batch
}

/** The primary key and the fence are two walls: either refuses a claim that another runner has committed. */
async function recordAck(connection: Connection, claim: Claim): Promise<void> {
  await connection.run(sql`
    INSERT INTO _eider.acks (claim_id, target, segment, events, committed_at)
    VALUES (${sql.value(claim.id)}, ${sql.value(claim.target)}, ${sql.value(claim.segment)},
      ${sql.value(claim.events)}, now())`)
  const moved = await connection.run(sql`
    INSERT INTO _eider.flush_position (target, segment, flushed_at)
    VALUES (${sql.value(claim.target)}, ${sql.value(claim.segment)}, now())
    ON CONFLICT (target) DO UPDATE SET segment = excluded.segment, flushed_at = excluded.flushed_at
    WHERE flush_position.segment < excluded.segment`)
  if (moved !== 1) throw new ModelFailure(`another run has flushed ${claim.id} meanwhile`)
}

async function deleteAck(connection: Connection, claim: Pick<Claim, 'id'>): Promise<void> {
  await connection.run(sql`DELETE FROM _eider.acks WHERE claim_id = ${sql.value(claim.id)}`)
}

/**
 * After a failure the ack record decides: without one nothing was committed and the events go back. When the engine
 * cannot tell, the claim stays open for the next run to decide.
 */
async function giveBack({ connection, claims }: FlushDependencies, claim: Claim): Promise<void> {
  const query = sql`SELECT 1 FROM _eider.acks WHERE claim_id = ${sql.value(claim.id)}`
  const row = await connection.row(query).catch(() => undefined)
  if (row === null) await claims.nack(claim)
}

/**
 * A segment at or below the fence. Its events are in the table when its removal was lost in a power cut. Events that
 * are younger than the last commit cannot be: then the buffer was replaced by one that counts from the start.
 */
async function removeReturned(
  { claims, logger }: FlushDependencies,
  claim: Claim,
  position: FlushPosition,
): Promise<void> {
  if (new Date(claim.newest) > position.flushedAt) {
    await claims.nack(claim)
    throw new ModelFailure(
      `the buffer hands out segment ${claim.segment}, but segment ${position.segment} was flushed before its events came in; ` +
        `if the buffer was replaced by another one, delete the row of ${claim.target} from _eider.flush_position and run again`,
    )
  }
  await claims.ack(claim)
  logger.warn('flush-segment-returned', { claim: claim.id })
}
