// The segments of one target on disk. One call at a time: the queue above it ensures that.

import { join } from 'node:path'
import { isDiskFull } from '../files/system-errors.ts'
import { errorCode } from './errors.ts'
import {
  allDone,
  LostFileError,
  reuseFile,
  unlinkIfThere,
  writeAll,
  type OpenFile,
} from './files.ts'
import { finishGroup, type Group } from './group.ts'
import { KeyMemory, type KeyLimits } from './key-memory.ts'
import { recoverDirectory, recoverSegment } from './recovery.ts'
import type { Origin, Place, Segment } from './recovery.ts'
import type { FoundKey } from './request-key.ts'
import { segmentFileName, type EventStamp, type SegmentName, type SegmentState } from './segment.ts'

/** What a buffer holds, which all of its targets share. */
export interface Usage {
  storedBytes: number
  /** Appended and not yet on disk. */
  pendingBytes: number
  /** When a write to the disk last failed, by the clock of this process, which nobody sets; null after a success. */
  failedAtMs: number | null
}

export interface StoreOptions extends Place {
  readonly usage: Usage
  /** Size at which a segment is sealed. */
  readonly segmentBytes: number
  readonly keyLimits: KeyLimits
  /** Throws LostFileError once another process may work here. */
  readonly checkLock: () => void
}

/** The segment that groups are appended to. */
interface OpenSegment {
  readonly name: SegmentName
  readonly path: string
  readonly file: OpenFile
  /** End of the last group that is known to be on disk. */
  sizeBytes: number
  events: number
  first: EventStamp | null
  last: EventStamp | null
}

const EMPTY = { sizeBytes: 0, events: 0, first: null, last: null } as const

/** What every segment with events has, also the one that is appended to. */
type SegmentSummary = Pick<OpenSegment, 'name' | 'sizeBytes' | 'events' | 'first'>

export class SegmentStore implements AsyncDisposable {
  readonly #options: StoreOptions
  readonly keys: KeyMemory
  readonly #origin: Origin
  #nextNumber: number
  /** One more than the last sequence number that is on disk. */
  #nextSeq: number
  /** All but the open one, ascending. */
  #segments: Segment[]
  /** Files without events that go as soon as a segment with a higher number is on disk. */
  #emptyPaths: string[]
  /** null until one could be made. */
  #open: OpenSegment | null = null
  /** An open segment whose sync failed: not to be used before recovery has been over it. */
  #suspect: OpenSegment | null = null
  /** Once set, nothing is accepted: what lies in the directory now is not what this process has written. */
  #lost: LostFileError | null = null

  private constructor(
    options: StoreOptions,
    found: Awaited<ReturnType<typeof recoverDirectory>>,
    keys: KeyMemory,
  ) {
    this.#options = options
    this.keys = keys
    this.#origin = found.origin
    this.#nextNumber = Math.max(found.origin.begin, found.nextNumber)
    this.#nextSeq = found.nextSeq
    this.#segments = [...found.segments]
    this.#emptyPaths = [...found.emptyPaths]
  }

  /** Recovers the directory, which must exist. */
  static async open(options: StoreOptions): Promise<SegmentStore> {
    const found = await recoverDirectory(options)
    const keys = await KeyMemory.open(options, options.keyLimits, found.keys)
    const store = new SegmentStore(options, found, keys)
    for (const { sizeBytes } of found.segments) options.usage.storedBytes += sizeBytes
    await store.#openSegment().catch((error: unknown) => store.#warn('segment-not-made', error))
    return store
  }

  get nextSeq(): number {
    return this.#nextSeq
  }

  /** Complete segments, ascending by number. */
  get segments(): readonly Segment[] {
    return this.#segments
  }

  /** All segments, the one that is appended to last. */
  summaries(): readonly SegmentSummary[] {
    const open = [this.#suspect, this.#open].filter((segment) => segment !== null)
    return [...this.#segments, ...open]
  }

  /** True for the number of a segment that is or was complete. */
  hasCompleted(number: number): boolean {
    const isOpen = [this.#suspect, this.#open].some((open) => open?.name.number === number)
    return !isOpen && number >= this.#origin.begin && number < this.#nextNumber
  }

  /** Brings the group to disk, or throws and leaves nothing of it that could ever be read. */
  async append(group: Group): Promise<void> {
    if (this.#lost !== null) throw this.#lost
    const bytes = finishGroup(group)
    await this.#rescueSuspect()
    let open = await this.#openSegment()
    if (open.events > 0 && open.sizeBytes + bytes.length > this.#options.segmentBytes) {
      await this.#seal(open, 'sealed')
      open = await this.#openSegment()
    }
    try {
      writeAll(open.file, bytes, open.sizeBytes)
    } catch (error) {
      await this.#cutBack(open).catch(() => this.#suspectOpen(open))
      throw error
    }
    try {
      await open.file.fdatasync(open.path)
      this.#options.checkLock()
    } catch (error) {
      if (error instanceof LostFileError) this.#lost = error
      await (this.#lost === null ? this.#suspectOpen(open) : this.#cutBack(open).catch(() => {}))
      throw error
    }
    this.#options.usage.storedBytes += bytes.length
    open.sizeBytes += bytes.length
    open.events += group.events
    open.first ??= group.first
    open.last = group.last
    this.#nextSeq = (group.last as EventStamp).seq + 1
    await this.keys.retry()
  }

  /**
   * Claims the oldest segment that is not claimed, sealing the open one when there is no other. Throws when the disk
   * refuses that: null would say that no events wait.
   */
  async claim(): Promise<Segment | null> {
    const rescued = this.#rescueSuspect()
    await rescued.catch((error: unknown) => this.#warn('segment-suspect', error))
    const waiting = this.#segments.find(({ name }) => name.state !== 'claimed')
    if (waiting !== undefined) return await this.rename(waiting, { state: 'claimed' })
    if ((this.#suspect?.events ?? 0) > 0) await rescued
    if (this.#open === null || this.#open.events === 0) return null
    return await this.#seal(this.#open, 'claimed')
  }

  async rename(segment: Segment, change: Partial<SegmentName>): Promise<Segment> {
    const name = { ...segment.name, ...change }
    const path = this.#path(name)
    await this.#options.files.rename(segment.path, path)
    const changed = { ...segment, name, path, changedAt: new Date() }
    this.#segments[this.#segments.indexOf(segment)] = changed
    await this.#syncDirectory()
    return changed
  }

  /** Without groups that have changed on disk; null when no other is left, and the segment is gone. */
  async repair(segment: Segment): Promise<Segment | null> {
    const keys: FoundKey[] = []
    const repaired = await recoverSegment(this.#options, segment.name, { keys })
    this.keys.forgetOthers(segment, keys)
    this.#options.usage.storedBytes += (repaired?.sizeBytes ?? 0) - segment.sizeBytes
    const left = repaired ?? { ...segment, sizeBytes: 0, events: 0 }
    this.#segments[this.#segments.indexOf(segment)] = left
    if (repaired === null) await this.remove([left])
    return repaired
  }

  /** With one sync for all of them. */
  async remove(segments: readonly Segment[]): Promise<void> {
    const last = segments.at(-1)
    if (last === undefined) return
    const areKeysKept = await this.keys.keep(segments)
    // The name of the last one is the record. Another is created only now: before a removal a full disk has no room.
    const isLast = this.summaries().every(({ name }) => name.number <= last.name.number)
    if (isLast) await this.#openSegment().catch((error: unknown) => this.#reuse(last, error))
    // Each is gone with its file, also where another one stays or the sync fails: nothing can be done with it any more.
    await allDone(
      segments.map(async (segment) => {
        await unlinkIfThere(this.#options.files, segment.path)
        this.#forget(segment)
      }),
    )
    await this.#syncDirectory()
    // A disk that was too full for the keys has room now, and must get them: only a flush makes room.
    if (!areKeysKept) await this.keys.keepRest()
  }

  /** Its file is gone. */
  #forget({ name: { number } }: Segment): void {
    const at = this.#segments.findIndex(({ name }) => name.number === number)
    if (at === -1) return
    const [gone] = this.#segments.splice(at, 1)
    this.#options.usage.storedBytes -= gone!.sizeBytes
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.keys.keepRest()
    await this.#open?.file.close()
    this.#open = null
  }

  /**
   * Truncates what was written of a failed group. The marker comes last, so it does not count even if this fails;
   * but it must be gone from the disk before the segment is sealed, where it would be damage.
   */
  async #cutBack(open: OpenSegment): Promise<void> {
    await open.file.truncate(open.sizeBytes)
    await open.file.fsync()
  }

  /**
   * Fail-stop. A second sync of this file may succeed without having written anything, so its trusted part moves to a new
   * file before it is used again. Cutting off the rejected group first keeps it from being found even if the process
   * ends before that; only a disk that fails this too, and then a restart, can bring a rejected group back.
   */
  async #suspectOpen(open: OpenSegment): Promise<void> {
    this.#open = null
    this.#suspect = open
    await open.file.truncate(open.sizeBytes).catch(() => {})
    await open.file.close().catch(() => {})
    await this.#rescueSuspect().catch((error: unknown) => this.#warn('segment-suspect', error))
  }

  async #rescueSuspect(): Promise<void> {
    if (this.#suspect === null) return
    const { name, path, sizeBytes } = this.#suspect
    const rescue = (state: SegmentState) =>
      recoverSegment(this.#options, { ...name, state }, { trustedBytes: sizeBytes })
    // An attempt that failed after its rename has left the sealed name.
    const rescued = await rescue('open').catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error
      return rescue('sealed')
    })
    this.#suspect = null
    this.#options.usage.storedBytes += (rescued?.sizeBytes ?? 0) - sizeBytes
    if (rescued === null) this.#emptyPaths.push(path)
    else this.#segments.push(rescued)
    this.#options.logger.info('segment-rescued', { path })
  }

  /** The open segment, created if there is none. */
  async #openSegment(): Promise<OpenSegment> {
    if (this.#open !== null) return this.#open
    const created = await this.#createSegment()
    await this.#adopt(created)
    for (const path of this.#emptyPaths.toReversed()) {
      await unlinkIfThere(this.#options.files, path)
      this.#emptyPaths.pop()
    }
    return created
  }

  // Where another file has no room, this one becomes the next. Its events are gone before it has a new number, under
  // which they must not return.
  async #reuse(segment: Segment, error: unknown): Promise<void> {
    if (!isDiskFull(error)) throw error
    const { name, path } = this.#nextName()
    // An empty one is there when an attempt failed after its last rename.
    const from = this.#emptyPaths.at(-1) ?? (await this.#discard(segment, name.seq))
    const file = await reuseFile(this.#options.files, from, path)
    this.#emptyPaths.pop()
    await this.#adopt({ name, path, file, ...EMPTY })
  }

  /** By its name alone the events do not count any more. Here it stays as it was, for an ack that comes again. */
  async #discard(segment: Segment, seq: number): Promise<string> {
    const path = this.#path({ ...segment.name, seq, state: 'open' })
    if (path !== segment.path) await this.#options.files.rename(segment.path, path)
    this.#segments[this.#segments.indexOf(segment)] = { ...segment, path }
    await this.#syncDirectory()
    return path
  }

  async #createSegment(): Promise<OpenSegment> {
    const next = this.#nextName()
    return { ...next, file: await this.#options.files.open(next.path, 'wx'), ...EMPTY }
  }

  /** Incremented even when the attempt fails: a number is tried for one file only. */
  #nextName() {
    const number = this.#nextNumber++
    const name = { ...this.#origin, number, seq: this.#nextSeq, state: 'open' } as const
    return { name, path: this.#path(name) }
  }

  /** Appends go to a new segment only once its directory entry is on disk. */
  async #adopt(created: OpenSegment): Promise<void> {
    try {
      await this.#syncDirectory()
    } catch (error) {
      await this.#abandon(created)
      throw error
    }
    this.#open = created
  }

  async #abandon(created: OpenSegment): Promise<void> {
    this.#emptyPaths.push(created.path)
    await created.file.close().catch(() => {})
  }

  /** Renames the open segment and makes the next one, with one sync of the directory for both. */
  async #seal(open: OpenSegment, state: SegmentState): Promise<Segment> {
    // Without space for a next one the claim must still work: a flush is what makes space.
    const notMade = (error: unknown) => this.#warn('segment-not-made', error)
    const next = await this.#createSegment().catch(notMade)
    const name = { ...open.name, state }
    const path = this.#path(name)
    try {
      await this.#options.files.rename(open.path, path)
    } catch (error) {
      if (next !== null) await this.#abandon(next)
      throw error
    }
    const { sizeBytes, events } = open
    const [first, last] = [open.first as EventStamp, open.last as EventStamp]
    const segment = { name, path, sizeBytes, events, first, last, changedAt: new Date() }
    this.#segments.push(segment)
    this.#open = null
    // All that was written to it is synced, so a failure to close it does not matter.
    await open.file.close().catch(() => {})
    await (next === null ? this.#syncDirectory() : this.#adopt(next))
    return segment
  }

  #path(name: SegmentName): string {
    return join(this.#options.directory, segmentFileName(name))
  }

  readonly #syncDirectory = () => this.#options.files.fsyncDirectory(this.#options.directory)

  #warn(event: string, error: unknown): null {
    const { directory, logger } = this.#options
    logger.warn(event, { directory, code: errorCode(error), error: String(error) })
    return null
  }
}
