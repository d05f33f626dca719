// The durable buffer of accepted events: one queue for each target, one owner at a time. It knows bytes, no SQL, no HTTP.

import { join, resolve } from 'node:path'
import { limits } from '../core/limits.ts'
import type { Logger } from '../core/logger.ts'
import { foldCase, parseModelName, type ModelName } from '../core/names.ts'
import { Resources } from '../core/resources.ts'
import type { DamagedEvents } from '../core/report/damaged-events.ts'
import { type Claim, type ClaimSource, locationOf } from './claim-source.ts'
import { damagedEvents } from './damaged.ts'
import {
  BufferFullError,
  BufferUnavailableError,
  ClaimTargetError,
  explain,
  UnknownClaimError,
} from './errors.ts'
import { ensureDirectory, type Files, LostFileError, realFiles } from './files.ts'
import { isIntact } from './intact.ts'
import { TargetQueue, type Commit, type QueueStats, type SegmentClaim } from './queue.ts'
import type { Usage } from './store.ts'
import type { KeyLimits } from './key-memory.ts'
import { type LockOptions, takeBufferLock } from './lock.ts'
import type { ProcessLock } from '../files/process-lock.ts'
import type { RequestKey } from './request-key.ts'
import { linesMaxBytes } from './segment.ts'
import { Outage } from './outage.ts'
import { directoryName, parseDirectoryName } from './target-directory.ts'

export interface EventBufferOptions extends LockOptions {
  /** Created when it is missing. */
  readonly dir: string
  /** Accepted events on disk; above it `append` rejects. */
  readonly maxBufferBytes: number
  readonly logger: Logger
  readonly files?: Files
  /** Size at which a segment is sealed. */
  readonly segmentBytes?: number
  readonly keyLimits?: KeyLimits
}

interface BufferStats {
  readonly targets: ReadonlyMap<ModelName, QueueStats>
  readonly bytes: number
  /** false while it is full, and for some seconds after the disk refused something. */
  readonly writable: boolean
}

type ClaimKey = Pick<Claim, 'id' | 'target'>

const DONE = Promise.resolve()

const DEFAULT_KEY_LIMITS: KeyLimits = {
  retentionMs: limits.keyRetentionHours * 3_600_000,
  maxKeys: limits.retainedKeys,
}

export class EventBuffer implements ClaimSource {
  readonly #options: EventBufferOptions
  readonly #files: Files
  readonly #resources: Resources
  readonly #lock: ProcessLock
  readonly #usage: Usage = { storedBytes: 0, pendingBytes: 0, failedAtMs: null }
  readonly #queues = new Map<ModelName, TargetQueue>()
  /** By the name in lower case: a model renamed only in case is the same one. */
  readonly #spellings = new Map<string, readonly TargetQueue[]>()
  readonly #outages = new Map<ModelName, Outage>()
  /** Queues being created; appends wait for them in order. */
  readonly #opening = new Map<ModelName, Promise<TargetQueue>>()
  #onCommit: (commit: Commit) => void = () => {}
  #closed = false
  /** When it last rejected events because they did not fit, and what it held then. */
  #fullSince = { atMs: -Infinity, storedBytes: 0 }

  private constructor(options: EventBufferOptions, lock: ProcessLock, resources: Resources) {
    this.#lock = lock
    this.#options = options
    this.#files = options.files ?? realFiles
    this.#resources = resources
  }

  /**
   * Takes the lock and recovers every target's directory. Throws EnvironmentError: `buffer-locked`, `buffer-inconsistent`,
   * and `buffer-unusable` when the system refuses a file.
   */
  static async open(options: EventBufferOptions): Promise<EventBuffer> {
    return await EventBuffer.#open(options).catch((error: unknown) => explain(error, options.dir))
  }

  static async #open(options: EventBufferOptions): Promise<EventBuffer> {
    await using resources = new Resources()
    const lock = resources.use(await takeBufferLock(options, options.logger))
    const files = options.files ?? realFiles
    await ensureDirectory(files, options.dir)
    const buffer = new EventBuffer(options, lock, resources.move())
    try {
      for (const name of await files.readdir(options.dir)) {
        const target = parseDirectoryName(name)
        if (target === null) options.logger.warn('buffer-unknown-directory', { name })
        else await buffer.#openQueue(target)
      }
    } catch (error) {
      await buffer[Symbol.asyncDispose]()
      throw error
    }
    return buffer
  }

  /**
   * Accepts the events of one call as one: all are on disk when it resolves. When it rejects, with BufferFullError or
   * BufferUnavailableError, none of them is ever handed out. Order per target is the order of the calls.
   * The bytes must not change before it settles. `receivedAt` is ISO 8601 in UTC.
   * Calls that one sync brings to disk get the same promise, so that a caller can wait once for many.
   */
  append(target: ModelName, events: readonly Uint8Array[], receivedAt: string): Promise<void> {
    if (events.length === 0) return DONE
    const queue = this.#readyQueue(target)
    if (queue === undefined || this.#closed) return this.#appendToNew(target, events, receivedAt)
    try {
      this.#refuseAboveLimits(linesMaxBytes(events))
    } catch (error) {
      return Promise.reject(error as Error)
    }
    return queue.append(events, receivedAt)
  }

  /**
   * As `append`, and only once for all calls with the same key: a later one gets the outcome of the first, also after a
   * restart, and while the first still waits for the disk. `read` is called only by the first, and may throw. Returns
   * the events of the request. Throws KeyReusedError for the key of a request with another body.
   */
  async appendOnce(
    target: ModelName,
    key: RequestKey,
    read: () => readonly Uint8Array[],
    receivedAt: string,
  ): Promise<number> {
    this.#refuseWhenClosed()
    const queue = this.#readyQueue(target) ?? (await this.#queueOf(target))
    this.#refuseWhenClosed()
    for (const spelling of this.#spellings.get(foldCase(target)) ?? []) {
      const known = spelling === queue ? null : spelling.findRepeat(key)
      if (known !== null) return await known
    }
    const readWithinLimits = () => {
      const events = read()
      this.#refuseAboveLimits(linesMaxBytes(events))
      return events
    }
    return await queue.appendOnce(key, readWithinLimits, receivedAt)
  }

  async targets(): Promise<readonly ModelName[]> {
    return [...this.#queues]
      .filter(([, queue]) => queue.stats().oldest !== null)
      .map(([target]) => target)
  }

  async inflight(target: ModelName): Promise<readonly SegmentClaim[]> {
    return this.#queues.get(target)?.inflight() ?? []
  }

  async claim(target: ModelName): Promise<SegmentClaim | null> {
    this.#refuseWhenClosed()
    return (await this.#queues.get(target)?.claim()) ?? null
  }

  /** See ClaimSource. Throws ClaimTargetError, UnknownClaimError. */
  async verify(claim: Claim): Promise<Claim | null> {
    const written = { sizeBytes: claim.bytes, events: claim.events }
    return (await isIntact(this.#files, locationOf(claim), written)) ? claim : this.repair(claim)
  }

  /** The claim without the groups that have changed on disk; null: nothing is left, or it was acked or given back. */
  async repair(claim: ClaimKey): Promise<SegmentClaim | null> {
    this.#refuseWhenClosed()
    const { queue, number } = this.#locate(claim)
    return await queue.repair(number)
  }

  damaged(): Promise<readonly DamagedEvents[]> {
    return damagedEvents(resolve(this.#options.dir))
  }

  /** Throws ClaimTargetError, UnknownClaimError. */
  async ack(claim: ClaimKey): Promise<number> {
    this.#refuseWhenClosed()
    const { queue, number } = this.#locate(claim)
    return await queue.ack(number)
  }

  /** Throws ClaimTargetError, UnknownClaimError. */
  async nack(claim: ClaimKey): Promise<number> {
    this.#refuseWhenClosed()
    const { queue, number } = this.#locate(claim)
    return await queue.nack(number)
  }

  /** The open claim; null when it was acked or given back. Throws ClaimTargetError, UnknownClaimError. */
  findClaim(claim: ClaimKey): SegmentClaim | null {
    const { queue, number } = this.#locate(claim)
    return queue.findClaim(number)
  }

  /** From now on `listener` is called for each group that is on disk. */
  onCommit(listener: (commit: Commit) => void): void {
    this.#onCommit = listener
  }

  stats(): BufferStats {
    const { storedBytes, failedAtMs } = this.#usage
    // Nobody appends to a buffer that reports itself unwritable, so it does so only until the next attempt makes sense.
    const failedLately =
      failedAtMs !== null && performance.now() - failedAtMs < limits.retryAfterSeconds * 1000
    return {
      targets: new Map([...this.#queues].map(([target, queue]) => [target, queue.stats()])),
      bytes: storedBytes,
      writable: !this.#closed && !failedLately && !this.#isFull(),
    }
  }

  /** Every earlier call is done or rejected before the lock is released; every later one is rejected. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#opening.values())
    await this.#resources[Symbol.asyncDispose]()
  }

  /** Full even before its last byte is used: when the latest events did not fit, and nothing has left it since. */
  #isFull(): boolean {
    const { storedBytes } = this.#usage
    const { atMs, storedBytes: before } = this.#fullSince
    const refusedLately = performance.now() - atMs < limits.retryAfterSeconds * 1000
    return storedBytes >= this.#options.maxBufferBytes || (refusedLately && storedBytes >= before)
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new BufferUnavailableError('the buffer is closed')
  }

  #refuseAboveLimits(neededBytes: number): void {
    const { storedBytes, pendingBytes } = this.#usage
    if (storedBytes + pendingBytes + neededBytes > this.#options.maxBufferBytes) {
      this.#fullSince = { atMs: performance.now(), storedBytes }
      throw new BufferFullError('the buffer is full until a run flushes some of its events')
    }
    // A single call may be of any size: the limit on request bodies has already allowed it.
    if (pendingBytes > 0 && pendingBytes + neededBytes > limits.pendingBytes)
      throw new BufferFullError('too many events are waiting for the disk')
  }

  async #appendToNew(target: ModelName, events: readonly Uint8Array[], receivedAt: string) {
    this.#refuseWhenClosed()
    const queue = await this.#queueOf(target)
    this.#refuseWhenClosed()
    this.#refuseAboveLimits(linesMaxBytes(events))
    await queue.append(events, receivedAt)
  }

  #readyQueue(target: ModelName): TargetQueue | undefined {
    return this.#opening.has(target) ? undefined : this.#queues.get(target)
  }

  async #queueOf(target: ModelName): Promise<TargetQueue> {
    try {
      return await (this.#opening.get(target) ?? this.#openQueue(target))
    } catch (error) {
      this.#usage.failedAtMs = performance.now()
      this.#outageOf(target).meet(error)
      throw new BufferUnavailableError('the buffer cannot be written', { cause: error })
    }
  }

  #outageOf(target: ModelName): Outage {
    const known = this.#outages.get(target) ?? new Outage(target, this.#options.logger)
    this.#outages.set(target, known)
    return known
  }

  #openQueue(target: ModelName): Promise<TargetQueue> {
    const opening = this.#makeQueue(target)
    this.#opening.set(target, opening)
    // One turn of the event loop later: calls that have waited for the queue go before calls that find it ready.
    const forget = () => setImmediate(() => this.#opening.delete(target))
    opening.then(forget, forget)
    return opening
  }

  async #makeQueue(target: ModelName): Promise<TargetQueue> {
    const directory = join(resolve(this.#options.dir), directoryName(target))
    await ensureDirectory(this.#files, directory)
    this.#refuseWithoutLock()
    const queue = this.#resources.use(
      await TargetQueue.open({
        target,
        outage: this.#outageOf(target),
        directory,
        files: this.#files,
        logger: this.#options.logger,
        usage: this.#usage,
        segmentBytes: this.#options.segmentBytes ?? limits.segmentBytes,
        onCommit: (commit) => this.#onCommit(commit),
        keyLimits: this.#options.keyLimits ?? DEFAULT_KEY_LIMITS,
        checkLock: () => this.#refuseWithoutLock(),
      }),
    )
    this.#refuseWithoutLock()
    this.#queues.set(target, queue)
    const folded = foldCase(target)
    this.#spellings.set(folded, [...(this.#spellings.get(folded) ?? []), queue])
    return queue
  }

  /**
   * Where the state was moved away, its lock went along, and a directory that is made now lies where any other process may
   * work, and take what is still written there for what a dead one has left. Asked before anything in the directory is
   * touched, again once the file for events is there, and after each sync: what is then on disk under the lock is found
   * by whoever takes the buffer next, and what is not on disk yet may lie behind what that has read.
   */
  #refuseWithoutLock(): void {
    if (!this.#lock.isHeld()) throw new LostFileError('moved or deleted', this.#options.lockFile)
  }

  #locate({ id, target }: ClaimKey): { readonly queue: TargetQueue; readonly number: number } {
    const [, claimTarget = '', digits] = /^(.*)\/(\d{1,15})$/s.exec(id) ?? []
    if (digits === undefined || parseModelName(claimTarget) === null)
      throw new UnknownClaimError(id)
    if (claimTarget !== target) throw new ClaimTargetError(id, target)
    const queue = this.#queues.get(target)
    if (queue === undefined) throw new UnknownClaimError(id)
    return { queue, number: Number(digits) }
  }
}
