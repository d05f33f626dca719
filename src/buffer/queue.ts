// The queue of one target: appends go to the end of its segments in groups, claims take whole segments from the front.
// Everything that touches its files is serialized; events collect meanwhile.

import { hostname } from 'node:os'
import { setImmediate as nextLoopTurn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { newLine } from '../core/in-turn.ts'
import type { ModelName } from '../core/names.ts'
import type { Claim } from './claim-source.ts'
import { BufferUnavailableError, UnknownClaimError } from './errors.ts'
import type { Outage } from './outage.ts'
import { addEvents, emptyGroup, nextGroup, type Group } from './group.ts'
import type { Segment } from './recovery.ts'
import { keyText, type RequestKey } from './request-key.ts'
import { SegmentStore, type StoreOptions } from './store.ts'

interface QueueOptions extends StoreOptions {
  readonly target: ModelName
  readonly outage: Outage
  /** Called for each group that is on disk. */
  readonly onCommit: (commit: Commit) => void
}

export interface Commit {
  readonly target: ModelName
  readonly events: number
  /** Calls to append. */
  readonly requests: number
  readonly bytes: number
  /** Time of the write and the sync. */
  readonly ms: number
}

/** A claim with details for people. Times are ISO 8601 in UTC. */
export interface SegmentClaim extends Claim {
  /** Acceptance of the first and of the last event. */
  readonly oldest: string
  readonly newest: string
  readonly claimedAt: string
}

export interface QueueStats {
  /** Events that wait for a claim. */
  readonly buffered: number
  /** Events in open claims. */
  readonly claimed: number
  /** On disk, of both. */
  readonly bytes: number
  /** Acceptance of the oldest event of both; null when there is none. */
  readonly oldest: string | null
  /** Requests since the buffer was opened that an earlier one with the same key had stored. */
  readonly repeats: number
}

/** Segments that go in one turn. */
interface Removal {
  readonly numbers: Set<number>
  /** Those that were still there. */
  readonly done: Promise<readonly Segment[]>
}

export class TargetQueue implements AsyncDisposable {
  readonly #options: QueueOptions
  readonly #store: SegmentStore
  readonly #inTurn = newLine()
  #nextSeq: number
  #collecting: Group = emptyGroup()
  #spare: Group = emptyGroup()
  #commitIsDue = false
  /** The removal by the acks that wait for their turn. */
  #removal: Removal | null = null
  #repeats = 0

  private constructor(options: QueueOptions, store: SegmentStore) {
    this.#options = options
    this.#store = store
    this.#nextSeq = store.nextSeq
  }

  /** Recovers the directory, which must exist. */
  static async open(options: QueueOptions): Promise<TargetQueue> {
    return new TargetQueue(options, await SegmentStore.open(options))
  }

  /** See EventBuffer.append. */
  append(
    events: readonly Uint8Array[],
    time: string,
    key: RequestKey | null = null,
  ): Promise<void> {
    const group = this.#collecting
    const sizeBefore = group.sizeBytes
    addEvents(group, events, this.#nextSeq, time, key === null ? null : keyText(key, events.length))
    this.#nextSeq += events.length
    this.#options.usage.pendingBytes += group.sizeBytes - sizeBefore
    if (!this.#commitIsDue) {
      this.#commitIsDue = true
      // What else arrives in this turn of the event loop joins the group; what arrives during its sync makes the next.
      void this.#inTurn(() => nextLoopTurn().then(() => this.#commit()))
    }
    return group.written
  }

  /** The outcome of an earlier request with this key; null when there was none. Throws KeyReusedError. */
  findRepeat(key: RequestKey): Promise<number> | null {
    const known = this.#store.keys.find(key)
    if (known !== null) this.#repeats++
    return known
  }

  /** See EventBuffer.appendOnce. */
  appendOnce(key: RequestKey, read: () => readonly Uint8Array[], time: string): Promise<number> {
    const known = this.findRepeat(key)
    if (known !== null) return known
    const events = read()
    if (events.length === 0) return Promise.resolve(0)
    const seq = this.#nextSeq
    const written = this.append(events, time, key)
    const { key: digest, body } = key
    return this.#store.keys.remember(
      { key: digest, body, events: events.length, time, seq },
      written,
    )
  }

  claim(): Promise<SegmentClaim | null> {
    return this.#inTurn(async () => {
      const segment = await this.#store.claim().catch(unavailable)
      return segment === null ? null : this.#toClaim(segment)
    })
  }

  /**
   * Removes a segment that was handed out. After a nack too: whoever acks has its events in the table. Calls that wait for
   * the same turn are one removal, with one sync.
   */
  async ack(number: number): Promise<number> {
    this.#findHandedOut(number)
    const removal = (this.#removal ??= this.#removeInTurn())
    const isRepeat = removal.numbers.has(number)
    removal.numbers.add(number)
    const removed = (await removal.done).find(({ name }) => name.number === number)
    return isRepeat || removed === undefined ? 0 : removed.events
  }

  /** See EventBuffer.repair. */
  repair(number: number): Promise<SegmentClaim | null> {
    return this.#inTurn(async () => {
      const segment = this.#findHandedOut(number)
      if (segment?.name.state !== 'claimed') return null
      const repaired = await this.#store.repair(segment).catch(unavailable)
      return repaired === null ? null : this.#toClaim(repaired)
    })
  }

  nack(number: number): Promise<number> {
    return this.#inTurn(async () => {
      const segment = this.#findHandedOut(number)
      if (segment?.name.state !== 'claimed') return 0
      await this.#store.rename(segment, { state: 'returned' }).catch(unavailable)
      return segment.events
    })
  }

  inflight(): readonly SegmentClaim[] {
    return this.#store.segments
      .filter(({ name }) => name.state === 'claimed')
      .map((segment) => this.#toClaim(segment))
  }

  /** The open claim with this number; null when it was acked or given back. Throws UnknownClaimError. */
  findClaim(number: number): SegmentClaim | null {
    const segment = this.#findHandedOut(number)
    return segment?.name.state === 'claimed' ? this.#toClaim(segment) : null
  }

  stats(): QueueStats {
    let [buffered, claimed, bytes] = [0, 0, 0]
    let oldest: string | null = null
    for (const { name, events, sizeBytes, first } of this.#store.summaries()) {
      if (name.state === 'claimed') claimed += events
      else buffered += events
      bytes += sizeBytes
      oldest ??= first?.time ?? null
    }
    return { buffered, claimed, bytes, oldest, repeats: this.#repeats }
  }

  /** What was appended is on disk or rejected when it resolves. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inTurn(() => this.#store[Symbol.asyncDispose]())
  }

  /** Never rejects: every waiting call gets the outcome of the group. */
  async #commit(): Promise<void> {
    const { outage, target, usage, onCommit } = this.#options
    const group = this.#collecting
    const bytes = group.sizeBytes
    this.#collecting = this.#spare
    this.#commitIsDue = false
    const startedMs = performance.now()
    try {
      await this.#store.append(group)
      usage.failedAtMs = null
      outage.end()
      group.resolve()
      const { events, calls: requests } = group
      onCommit({ target, events, requests, bytes, ms: performance.now() - startedMs })
    } catch (error) {
      usage.failedAtMs = performance.now()
      outage.meet(error)
      group.reject(new BufferUnavailableError('the buffer cannot be written', { cause: error }))
    }
    usage.pendingBytes -= bytes
    this.#spare = nextGroup(group)
  }

  #removeInTurn(): Removal {
    const numbers = new Set<number>()
    const done = this.#inTurn(async () => {
      this.#removal = null
      const segments = this.#store.segments.filter(({ name }) => numbers.has(name.number))
      await this.#store.remove(segments).catch(unavailable)
      return segments
    })
    return { numbers, done }
  }

  /** null when it was acked; throws UnknownClaimError for a number that was never handed out. */
  #findHandedOut(number: number): Segment | null {
    const segment = this.#store.segments.find(({ name }) => name.number === number)
    if (segment?.name.state === 'sealed' || !this.#store.hasCompleted(number))
      throw new UnknownClaimError(this.#claimId(number))
    return segment ?? null
  }

  #toClaim({ name, path, events, sizeBytes, first, last, changedAt }: Segment): SegmentClaim {
    return {
      id: this.#claimId(name.number),
      collector: hostname(),
      target: this.#options.target,
      segment: name.number,
      opening: name.opening,
      oldestSegment: this.#store.segments[0]?.name.number ?? name.number,
      events,
      bytes: sizeBytes,
      url: pathToFileURL(path).href,
      firstSeq: first.seq,
      lastSeq: last.seq,
      oldest: first.time,
      newest: last.time,
      claimedAt: changedAt.toISOString(),
    }
  }

  #claimId(number: number): string {
    return `${this.#options.target}/${number}`
  }
}

function unavailable(error: unknown): never {
  throw new BufferUnavailableError('the buffer cannot be changed', { cause: error })
}
