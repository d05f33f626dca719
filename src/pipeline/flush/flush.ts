// From the buffer into the tables, each accepted event once.
//
//   1 claim a batch                     5 write the ack record, move the fence
//   2 load it: a temporary relation     6 COMMIT
//   3 BEGIN                             7 ack the buffer: the segment is gone
//   4 INSERT, then check its bytes      8 delete the ack record
//
// DuckDB knows nothing of the checksums. They are compared once it has read: what is as it was accepted then was so when
// it was read. After a check before, a disk may still give DuckDB other bytes.
//
// A batch is one segment or, up to limits.flushBytes, several: each has its own ack record, and all are committed
// or none. When an event of a batch does not fit, its segments are committed one by one.
//
// A crash before 6 leaves the segments in the buffer and nothing in the table; the next run flushes them under the same
// claim ids. A crash after 6 leaves ack records; the next run does steps 7 and 8. Segments of a target are committed in
// ascending order, and `_eider.flush_position` refuses one at or below the last of the same opening of the buffer: a
// runner that slept through another's recovery cannot insert again, also after step 8.

import { type Claim, type ClaimSource, locationOf } from '../../buffer/claim-source.ts'
import { limits } from '../../core/limits.ts'
import type { Logger } from '../../core/logger.ts'
import type { ModelName } from '../../core/names.ts'
import type { Progress, Share, FlushCount } from '../../core/report/progress.ts'
import { isOutcomeUnknown } from '../../duckdb/errors.ts'
import { problemOfSystem } from '../../files/system-errors.ts'
import { ModelFailure } from '../failure.ts'
import {
  type Batch,
  dropBatch,
  insertTolerantly,
  insertTyped,
  loadTolerantly,
  MisfitError,
  viewTyped,
  type Loading,
} from './load-batch.ts'
import { linesOf } from './event-columns.ts'
import type { KeptCount } from '../../core/report/planned-changes.ts'
import { countKept } from './reading.ts'
import { recordAdded } from '../changes/added.ts'
import type { ChangeTables } from '../../store/changes.ts'
import type { FlushRecords } from '../../store/flush-records.ts'
import type { WrittenTable } from '../../store/table-storage.ts'
import { type AckRecord, type FlushPosition, isFlushed } from '../../store/state.ts'

export type FlushStep =
  | 'claimed'
  | 'loaded'
  | 'begun'
  | 'inserted'
  | 'recorded'
  | 'committed'
  | 'acked'
  | 'record-deleted'

export interface FlushDependencies extends Loading {
  readonly records: FlushRecords
  readonly changes: ChangeTables
  /** Called with the size of each batch before DuckDB reads it. */
  readonly makeRoom: (bytes: number) => Promise<void>
  readonly claims: ClaimSource
  /** The model is new, or was edited, since events were last flushed: some may be from a time with other columns. */
  readonly formerly: boolean
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly progress: Progress
  readonly onShare?: ((share: Share) => void) | undefined
  /** When the run began. */
  readonly startedAt: Date
  /** Called after each commit, so it is right even when a later batch throws. */
  readonly count: (flushed: FlushCount) => void
  /** Called after each commit with what events have for columns that the model no longer lists. */
  readonly noteKept?: ((kept: readonly KeptCount[]) => void) | undefined
  /** Called after each step; crash tests end the process there. */
  readonly onStep?: ((step: FlushStep) => void | Promise<void>) | undefined
}

/** First thing in a run: batches that were committed, but not cleaned up. Steps 7 and 8 change nothing when repeated. */
export async function finishCommitted(
  deps: Pick<FlushDependencies, 'claims' | 'records' | 'connection' | 'logger'>,
  acks: readonly AckRecord[],
): Promise<void> {
  for (const ack of acks) {
    const open = await deps.claims.inflight(ack.target)
    const isOpen = open.some(({ id, opening }) => id === ack.id && opening === ack.opening)
    if (isOpen) await deps.claims.ack(ack)
    await deps.records.forget(deps.connection, [ack])
    deps.logger.info('flush-recovered', { claim: ack.id })
  }
}

/** A disk whose bits flip does so once; one that gives other bytes at each reading would be asked for ever. */
const MOST_CHANGES = 100

/**
 * Flushes what was buffered for a target when the run began, ascending. The target is the name of the model, or one that
 * differs from it in case: the model was spelled so when the events came. `fence` is that of the target. What is not
 * committed when it throws is back in the buffer.
 */
export async function flushTarget(
  deps: FlushDependencies,
  target: ModelName,
  fence: FlushPosition | undefined,
): Promise<void> {
  const { model, progress, signal } = deps
  // What an earlier run left open is not committed, or finishCommitted() had removed it.
  await takeBack(deps, target)
  let flushed = false
  let changes = 0
  const beganMs = performance.now()
  for (let isLast = false; !isLast && !signal.aborted;) {
    const startedAt = performance.now()
    const batch: Claim[] = []
    try {
      isLast = await claimBatch(deps, target, fence, batch, beganMs) // step 1
      if (batch.length === 0) break
      await using _turn = await deps.records.hold(target, signal)
      flushed = true
      progress({ event: 'flush-started', model: model.name, events: eventsOf(batch) })
      let events = 0
      let rejected = 0
      await deps.makeRoom(bytesOf(batch))
      const count = (part: FlushCount) => {
        deps.count(part)
        events += part.events
        rejected += part.rejected
        const done = events + rejected
        deps.onShare?.({ step: 'flush', model: model.name, done, total: eventsOf(batch) })
      }
      const isWhole = await flushUnchanged({ ...deps, count }, batch)
      const ms = performance.now() - startedAt
      progress({ event: 'flush-finished', model: model.name, events, rejected, ms })
      if (isWhole) continue
      // A claim that is gone may be one that another run has given back, and then none behind it may be committed.
      changes++
      if (changes === MOST_CHANGES)
        throw new ModelFailure(
          `events of ${target} have other bytes each time they are read, ${changes} times by now; nothing of them is lost: look at the disk, and run again`,
        )
      await takeBack(deps, target)
      isLast = false
    } catch (error) {
      await giveBack(deps, batch)
      throw error
    }
  }
  if (flushed) await dropBatch(deps.connection)
}

/**
 * The buffer takes back what is claimed and hands everything out again, oldest first and under the same ids. Throws when it
 * refuses one: who went on would commit those behind it, and a run after that would take it for flushed.
 */
async function takeBack({ claims }: FlushDependencies, target: ModelName): Promise<void> {
  for (const claim of await claims.inflight(target)) await claims.nack(claim)
}

/**
 * Adds claims to `batch`, up to the limit; true when there is nothing more for this run to claim. `beganMs`: when the flush
 * of the target did, by the clock of this process, which nobody sets.
 */
async function claimBatch(
  deps: FlushDependencies,
  target: ModelName,
  fence: FlushPosition | undefined,
  batch: Claim[],
  beganMs: number,
): Promise<boolean> {
  for (let bytes = 0; bytes < limits.flushBytes;) {
    const claim = await deps.claims.claim(target)
    if (claim === null) return true
    await deps.onStep?.('claimed')
    await refuseBehindAnother(deps, claim, batch)
    if (isFlushed(fence, claim)) {
      await removeReturned(deps, claim)
      continue
    }
    batch.push(claim)
    bytes += claim.bytes
    // This one holds events younger than the run, so all older ones are in. A busy target would never end otherwise. A
    // time that is still to come is of a clock that was ahead when they were accepted, and says nothing. And where the clock
    // was behind when the run began, and is right by now, older events look younger than the run: they are not younger than
    // the flush.
    const newestMs = Date.parse(claim.newest)
    const nowMs = Date.now()
    const isYounger =
      newestMs >= deps.startedAt.getTime() && newestMs >= nowMs - (performance.now() - beganMs)
    if (isYounger && newestMs - nowMs <= limits.clockSetBackMs) return true
  }
  return false
}

/** One that the disk does not give back is a matter of its model alone. */
async function verify(deps: FlushDependencies, claim: Claim): Promise<Claim | null> {
  try {
    return await deps.claims.verify(claim)
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new ModelFailure(`${locationOf(claim)} cannot be read: ${problemOfSystem(error)}`)
  }
}

/**
 * The fence says that all segments up to it are in the table. So nobody may commit one while an earlier one, claimed by a
 * runner that is still at work or was until now, is in the buffer: once below the fence it would be taken for flushed.
 */
async function refuseBehindAnother(
  deps: FlushDependencies,
  claim: Claim,
  batch: readonly Claim[],
): Promise<void> {
  const oldestOwn = (batch[0] ?? claim).segment
  if (claim.oldestSegment >= oldestOwn) return
  await nack(deps, claim)
  throw new ModelFailure(
    `another run is flushing ${claim.target}: segment ${claim.oldestSegment} of the buffer was handed out to it; run again when it has ended`,
  )
}

/** Bytes of claims have changed on disk; nothing of what was read of them may be committed. */
class ChangedOnDisk extends Error {}

async function refuseChanged(deps: FlushDependencies, claims: readonly Claim[]): Promise<void> {
  let areWhole = true
  for (const claim of claims) {
    const whole = await verify(deps, claim)
    areWhole &&= whole?.bytes === claim.bytes && whole.events === claim.events
  }
  if (!areWhole) throw new ChangedOnDisk()
}

/** `reading` reads the events of the claims; what it fails of may be their bytes, and not the events. */
async function reads<T>(
  deps: FlushDependencies,
  claims: readonly Claim[],
  reading: Promise<T>,
): Promise<T> {
  try {
    return await reading
  } catch (error) {
    await refuseChanged(deps, claims)
    throw error
  }
}

/** false: bytes of claims had changed on disk. Their groups are taken out, and the others are to be claimed again. */
async function flushUnchanged(deps: FlushDependencies, claims: readonly Claim[]): Promise<boolean> {
  try {
    await flushClaims(deps, claims)
    return true
  } catch (error) {
    if (!(error instanceof ChangedOnDisk)) throw error
    return false
  }
}

/** Steps 2 to 8: all claims in one transaction or, when an event does not fit, each in its own. */
async function flushClaims(deps: FlushDependencies, claims: readonly Claim[]): Promise<void> {
  const { connection, model, records, changes, onStep } = deps
  const commit = async (batch: Batch, insert: (target: WrittenTable) => Promise<void>) => {
    await onStep?.('loaded')
    const counted = countKept(connection, model, (e) => linesOf(claims, { e }))
    const kept = await reads(deps, claims, counted)
    await transact(deps, claims, async () => {
      // step 3
      await onStep?.('begun')
      const target = await deps.tables.written(connection, model.name)
      await recordAdded({ connection, changes }, model, target, () =>
        reads(deps, claims, insert(target)),
      ) // step 4
      await refuseChanged(deps, claims)
      await onStep?.('inserted')
      const taken = await records.record(connection, claims) // step 5
      if (taken !== null) throw new FlushedMeanwhile(`another run has flushed ${taken} meanwhile`)
      await onStep?.('recorded')
    }) // step 6
    deps.count(batch)
    deps.noteKept?.(kept)
    await onStep?.('committed')
    await ackAll(deps, claims) // step 7
    await onStep?.('acked')
    await records.forget(connection, claims) // step 8
    await onStep?.('record-deleted')
  }
  try {
    const batch = await reads(deps, claims, viewTyped(deps, claims, deps.formerly)) // step 2
    return await commit(batch, (target) => insertTyped(deps, target, batch))
  } catch (error) {
    if (!(error instanceof MisfitError)) throw error
  }
  const [claim, ...others] = claims
  if (claim === undefined) return
  if (others.length > 0) {
    for (const one of claims) await flushClaims(deps, [one])
    return
  }
  const batch = await reads(deps, claims, loadTolerantly(deps, claim))
  await commit(batch, (target) => insertTolerantly(deps, target, claim, batch))
}

/** Several at a time, as the buffer removes those that it is asked for together with one sync. */
async function ackAll({ claims: source }: FlushDependencies, claims: readonly Claim[]) {
  for (let at = 0; at < claims.length; at += limits.acksAtOnce)
    await Promise.all(claims.slice(at, at + limits.acksAtOnce).map((claim) => source.ack(claim)))
}

/** The rows of these claims were committed by another process, or are about to be. */
export class FlushedMeanwhile extends ModelFailure {}

/** Where the answer to the COMMIT is lost, what was recorded decides. */
async function transact(
  { connection, records }: FlushDependencies,
  claims: readonly Claim[],
  work: () => Promise<void>,
): Promise<void> {
  try {
    await connection.transact(work)
  } catch (error) {
    if (!isOutcomeUnknown(error)) throw error
    for (const claim of claims)
      if (!(await records.isCommitted(connection, claim).catch(() => false))) throw error
  }
}

const eventsOf = (claims: readonly Claim[]) => claims.reduce((sum, { events }) => sum + events, 0)
const bytesOf = (claims: readonly Claim[]) => claims.reduce((sum, { bytes }) => sum + bytes, 0)

/**
 * After a failure the ack record decides: without one nothing was committed and the events go back; a claim that is gone
 * already, acked and its record deleted, does not come back by a nack. When DuckDB cannot tell, or the buffer
 * does not take them, the claims stay open for the next run to decide. Never throws: the earlier failure is reported.
 */
async function giveBack(deps: FlushDependencies, claims: readonly Claim[]): Promise<void> {
  for (const claim of claims) {
    const isCommitted = await deps.records
      .isCommitted(deps.connection, claim)
      .catch(() => undefined)
    // After the buffer refuses one the others are not tried: each may take until a time limit.
    if (isCommitted === false && !(await nack(deps, claim))) return
  }
}

/**
 * Runs before a failure is reported, and must not hide it: the next run takes back what stays open. false: the
 * buffer does not accept it.
 */
async function nack({ claims, logger }: FlushDependencies, claim: Claim): Promise<boolean> {
  try {
    await claims.nack(claim)
    return true
  } catch (error) {
    logger.warn('flush-claim-left-open', { claim: claim.id, error: String(error) })
    return false
  }
}

/**
 * A segment at or below the fence of its opening: its events are in the table. It is there when its removal was lost in a
 * power cut, when a dead run had given it back after its commit, or when a copy of the buffer was put in its place.
 */
async function removeReturned(deps: FlushDependencies, claim: Claim): Promise<void> {
  await deps.claims.ack(claim)
  deps.logger.warn('flush-segment-returned', { claim: claim.id })
}
