// Answers of which clients ask for parts: a reader of Parquet asks for the end of the file first and then for columns. So a
// file is made for a snapshot and a query, and kept until the snapshot is replaced or others need its room.

import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../core/limits.ts'
import { Resources } from '../../core/resources.ts'
import { type Admission, createAdmission, overloaded } from './admission.ts'
import { type FileContent, makeFile, type MadeFile } from './make-file.ts'
import { type EngineAccess, unlessGone } from './query.ts'
import type { EngineOptions } from './snapshot-engines.ts'

export interface FileOrder extends FileContent {
  /** Equal for equal files of this snapshot. */
  readonly key: string
  /** Whether its rows depend on the time of the request. */
  readonly isTimed: boolean
}

/** A file that stays readable until it is disposed of, also when its name is deleted. */
interface AnswerFile extends AsyncDisposable {
  readonly bytes: number
  readonly rows: number
  /** `end` is the offset after the last byte. Throws when the file ends early. */
  read(start: number, end: number): AsyncIterable<Buffer>
}

type FileRequest = Pick<EngineAccess, 'gone' | 'onDamage'>

export interface AnswerFilesOptions extends EngineOptions {
  readonly admission: Admission
  /** Time in which a file must be made. */
  readonly timeLimitMs: number
  readonly currentId: () => string
  readonly maxBytes?: number
  readonly maxFileBytes?: number
  readonly maxFiles?: number
}

interface Entry {
  readonly snapshotId: string
  readonly dir: string
  readonly madeAtMs: number
  readonly made: Promise<MadeFile>
  readonly stop: AbortController
  isMade: boolean
  /** What it takes on disk, also while it is being made. */
  bytes: number
  /** Requests that wait for it or read it. */
  users: number
}

export class AnswerFiles implements AsyncDisposable {
  readonly #options: AnswerFilesOptions
  readonly #makers: Admission
  /** Those that were asked for last come last. */
  readonly #entries = new Map<string, Entry>()
  readonly #timer: NodeJS.Timeout

  constructor(options: AnswerFilesOptions) {
    const { answerFileMakers: running, waitingQueries: waiting } = limits
    this.#options = options
    this.#makers = createAdmission({ running, large: running, waiting })
    this.#timer = setInterval(() => this.#sweep(), limits.answerFileSweepMs).unref()
  }

  /** Throws RequestError: 413, 503, 504, and those of a query; ClientGone. */
  async lease(order: FileOrder, request: FileRequest): Promise<AnswerFile> {
    this.#sweep()
    const key = JSON.stringify([order.snapshot.id, order.key])
    const entry = this.#find(key, order) ?? this.#begin(order, request.onDamage)
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    entry.users++
    await using resources = new Resources()
    resources.defer(() => this.#leave(key, entry))
    const { path, bytes, rows } = await unlessGone(entry.made, request.gone)
    const file = resources.use(await open(path))
    return Object.assign(resources.move(), {
      bytes,
      rows: rows - order.written.heads,
      read: (start: number, end: number) => readFileRange(file, start, end),
    })
  }

  /** Who comes after one that could not be made makes it again. */
  async #leave(key: string, entry: Entry): Promise<void> {
    entry.users--
    if (entry.users > 0) return
    if (!entry.isMade || this.#entries.get(key) !== entry) await this.#drop(key, entry)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    const all = [...this.#entries]
    await Promise.all(all.map(([key, entry]) => this.#drop(key, entry)))
    await Promise.allSettled(all.map(([, { made }]) => made))
  }

  #drop(key: string, entry: Entry): Promise<void> {
    if (this.#entries.get(key) === entry) this.#entries.delete(key)
    entry.stop.abort()
    return rm(entry.dir, { recursive: true, force: true })
  }

  #sweep(): void {
    for (const [key, entry] of this.#entries)
      if (entry.users === 0 && entry.snapshotId !== this.#options.currentId())
        void this.#drop(key, entry)
  }

  #find(key: string, { isTimed }: FileOrder): Entry | null {
    const entry = this.#entries.get(key)
    if (entry === undefined) return null
    if (!isTimed || entry.madeAtMs + limits.answerFileTimeMs >= performance.now()) return entry
    if (entry.users === 0) void this.#drop(key, entry)
    return null
  }

  /** Drops what nobody reads, longest unused first, until there is room. False where there is none. */
  #makeRoom(files: number): boolean {
    const { maxBytes = limits.answerFilesBytes, maxFiles = limits.answerFiles } = this.#options
    const isFull = () =>
      this.#entries.size + files > maxFiles ||
      [...this.#entries.values()].reduce((sum, { bytes }) => sum + bytes, 0) > maxBytes
    for (const [key, entry] of [...this.#entries].filter(([, { users }]) => users === 0)) {
      if (!isFull()) break
      void this.#drop(key, entry)
    }
    return !isFull()
  }

  #begin(order: FileOrder, onDamage: FileRequest['onDamage']): Entry {
    if (!this.#makeRoom(1)) throw overloaded()
    const { tempDir, timeLimitMs, maxFileBytes = limits.answerFileBytes } = this.#options
    const dir = join(tempDir, `answer-${randomUUID()}`)
    const stop = new AbortController()
    const endsAtMs = performance.now() + timeLimitMs
    const wait = setTimeout(() => stop.abort(overloaded()), timeLimitMs)
    const make = () => {
      clearTimeout(wait)
      return makeFile(order, dir, {
        ...this.#options,
        maxFileBytes,
        clock: { remainingMs: endsAtMs - performance.now() },
        gone: stop.signal,
        onDamage,
        onBytes: (bytes) => {
          entry.bytes = bytes
          return this.#makeRoom(0)
        },
      })
    }
    const entry: Entry = {
      snapshotId: order.snapshot.id,
      dir,
      madeAtMs: performance.now(),
      made: this.#makers.run(make, { signal: stop.signal, begun: false, isSmall: true }),
      stop,
      isMade: false,
      bytes: 0,
      users: 0,
    }
    entry.made.then(() => (entry.isMade = true)).catch(() => {}) // those who wait for it get the error
    return entry
  }
}
/** `end` is the offset after the last byte. Throws when the file ends early: what is short must not look whole. */
export async function* readFileRange(file: FileHandle, start: number, end: number) {
  for (let at = start; at < end;) {
    const buffer = Buffer.allocUnsafe(Math.min(limits.sendAheadBytes, end - at))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
    if (bytesRead === 0) throw new Error(`a file of ${end} bytes and more ends after ${at}`)
    yield buffer.subarray(0, bytesRead)
    at += bytesRead
  }
}
