// Answers of which clients ask for parts: a reader of Parquet asks for the end of the file first and then for columns. So a
// file is made for a snapshot and a query, and kept until the snapshot is replaced or others need its room.
//
// Each is made by an engine of its own, which can write to the directory of this file and nowhere else.

import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../core/limits.ts'
import { entitySetName } from '../../core/names.ts'
import { Resources } from '../../core/resources.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import { openFileWriter, writtenTo } from '../../duckdb/file-writer.ts'
import { odataError } from '../protocol/errors.ts'
import type { WrittenFile } from '../sql/engine-types.ts'
import { type Admission, createAdmission, overloaded } from './admission.ts'
import { ClientGone, type EngineAccess, inTurn } from './query.ts'
import type { EngineOptions } from './options.ts'

export interface FileOrder {
  readonly snapshot: Snapshot
  /** Equal for equal files of this snapshot. */
  readonly key: string
  /** Whether its rows depend on the time of the request. */
  readonly isTimed: boolean
  readonly written: WrittenFile
}

/** A file that stays readable until it is disposed of, whatever becomes of its name. */
export interface AnswerFile extends AsyncDisposable {
  readonly bytes: number
  readonly rows: number
  /** For a thread of this process, until the file is disposed of. */
  readonly fd: number
  /** `end` is the offset after the last byte. Throws when the file ends early. */
  read(start: number, end: number): AsyncIterable<Buffer>
}

export interface AnswerFiles extends AsyncDisposable {
  /** Throws RequestError: 413, 503, 504, and those of a query; ClientGone. */
  lease(order: FileOrder, request: FileRequest): Promise<AnswerFile>
}

type FileRequest = Pick<EngineAccess, 'gone' | 'onDamage'>

export interface AnswerFilesOptions extends EngineOptions {
  readonly admission: Admission
  /** Time in which a file must be made. */
  readonly timeLimitMs: number
  /** Of the snapshot that is served. */
  readonly currentId: () => string
  readonly maxBytes?: number
  readonly maxFileBytes?: number
  readonly maxFiles?: number
  /** Whether a file that nobody reads is kept for those who ask for it again; true by default. */
  readonly keepsUnused?: boolean
}

interface Entry {
  readonly snapshotId: string
  readonly dir: string
  readonly path: string
  readonly madeAtMs: number
  readonly made: Promise<Made>
  /** Stops making it. */
  readonly stop: AbortController
  isMade: boolean
  /** What it takes on disk, also while it is being made. */
  bytes: number
  /** Requests that wait for it or read it. */
  users: number
}

interface Made {
  readonly bytes: number
  readonly rows: number
}

export function createAnswerFiles(options: AnswerFilesOptions): AnswerFiles {
  const { maxBytes = limits.answerFilesBytes, maxFiles = limits.answerFiles } = options
  const { answerFileMakers: running, waitingQueries: waiting } = limits
  const makers = createAdmission({ running, large: running, waiting })
  /** Those that were asked for last come last. */
  const entries = new Map<string, Entry>()

  function drop(key: string, entry: Entry): Promise<void> {
    if (entries.get(key) === entry) entries.delete(key)
    entry.stop.abort()
    return rm(entry.dir, { recursive: true, force: true })
  }

  async function sweep(): Promise<void> {
    const isOld = ({ snapshotId, users }: Entry) =>
      users === 0 && snapshotId !== options.currentId()
    await Promise.all(
      [...entries].filter(([, entry]) => isOld(entry)).map(([key, entry]) => drop(key, entry)),
    )
  }

  /** Drops what nobody reads, longest unused first, until there is room. False where there is none. */
  function makeRoom(files: number): boolean {
    const unused = [...entries].filter(([, { users }]) => users === 0)
    const isFull = () =>
      entries.size + files > maxFiles ||
      [...entries.values()].reduce((sum, { bytes }) => sum + bytes, 0) > maxBytes
    for (const [key, entry] of unused) {
      if (!isFull()) break
      void drop(key, entry)
    }
    return !isFull()
  }

  function begin(order: FileOrder, onDamage: FileRequest['onDamage']): Entry {
    if (!makeRoom(1)) throw overloaded()
    const dir = join(options.tempDir, `answer-${randomUUID()}`)
    const stop = new AbortController()
    const making = {
      snapshotId: order.snapshot.id,
      dir,
      path: join(dir, 'rows'),
      madeAtMs: Date.now(),
      stop,
      isMade: false,
      bytes: 0,
      users: 0,
    }
    const watched = {
      ...making,
      onDamage,
      onBytes(bytes: number) {
        entry.bytes = bytes
        return makeRoom(0)
      },
    }
    const endsAtMs = performance.now() + options.timeLimitMs
    const wait = setTimeout(() => stop.abort(overloaded()), options.timeLimitMs)
    const make = () => {
      clearTimeout(wait)
      return makeFile(
        order,
        { ...watched, clock: { remainingMs: endsAtMs - performance.now() } },
        options,
      )
    }
    const made = makers.run(make, { signal: stop.signal, begun: false, isSmall: true })
    const entry: Entry = Object.assign(making, { made })
    made.then(() => (entry.isMade = true)).catch(() => {}) // whoever waits for it is told
    return entry
  }

  const timer = setInterval(() => void sweep(), limits.answerFileSweepMs)
  timer.unref()

  return {
    async lease(order, request) {
      void sweep()
      const key = JSON.stringify([order.snapshot.id, order.key])
      const known = entries.get(key)
      const isLate =
        order.isTimed &&
        known !== undefined &&
        known.madeAtMs + limits.answerFileTimeMs < Date.now()
      if (isLate && known.users === 0) void drop(key, known)
      const entry = known === undefined || isLate ? begin(order, request.onDamage) : known
      entries.delete(key)
      entries.set(key, entry)
      entry.users++
      const leave = () => {
        entry.users--
        const isKept = options.keepsUnused !== false && entries.get(key) === entry
        if (entry.users === 0 && !isKept) void drop(key, entry)
      }
      try {
        const made = await unlessGone(entry.made, request.gone)
        const file = await open(entry.path)
        return leased(file, made, leave)
      } catch (error) {
        leave()
        // Who comes next makes it again.
        if (entry.users === 0 && !entry.isMade) await drop(key, entry)
        throw error
      }
    },

    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      const all = [...entries]
      await Promise.all(all.map(([key, entry]) => drop(key, entry)))
      await Promise.allSettled(all.map(([, { made }]) => made))
    },
  }
}

interface Watched
  extends Pick<Entry, 'dir' | 'path' | 'stop'>, Pick<EngineAccess, 'onDamage' | 'clock'> {
  /** What there is of it by now; false when there is no room for it. */
  readonly onBytes: (bytes: number) => boolean
}

async function makeFile(
  { snapshot, written: { rows, options: how, heads } }: FileOrder,
  { dir, path, stop, clock, onDamage, onBytes }: Watched,
  { published, memoryLimit, tempDir, admission, maxFileBytes }: AnswerFilesOptions,
): Promise<Made> {
  const most = maxFileBytes ?? limits.answerFileBytes
  await using resources = new Resources()
  const unmade = new Resources()
  resources.use(unmade)
  unmade.defer(() => rm(dir, { recursive: true, force: true }))
  await mkdir(dir, { recursive: true, mode: 0o700 })
  // A name of a set that the statement does not have in it is not read by it.
  const statement = writtenTo(path, rows, how)
  const text = statement.inline()
  const files = snapshot.relations
    .map((relation) => ({ relation, name: entitySetName(relation.model) }))
    .filter(({ name }) => text.includes(name))
    .map(({ relation, name }) => published.open(relation, name))
  const engine = { files, dir, memoryLimit, tempDir }
  const pool = resources.use(await openFileWriter(engine))
  const { connection } = resources.use(await pool.take())
  let refusal: Error | null = null
  const look = async () => {
    const bytes = await sizeOf(path)
    if (bytes > most) refusal = tooLarge(most)
    else if (!onBytes(bytes)) refusal = overloaded()
    if (refusal !== null) stop.abort()
  }
  const timer = setInterval(() => void look(), limits.answerFileLookMs)
  resources.defer(() => clearInterval(timer))
  const access = { admission, clock, gone: stop.signal, onDamage }
  try {
    const turn = { begun: false, isSmall: false }
    const count = await inTurn(access, connection, turn, () => connection.run(statement))
    const bytes = await sizeOf(path)
    if (bytes > most) throw tooLarge(most)
    if (!onBytes(bytes)) throw overloaded()
    unmade.move()
    return { bytes, rows: count - heads }
  } catch (error) {
    throw refusal ?? (isDiskFull(error) ? overloaded() : error)
  }
}

const isDiskFull = (error: unknown) =>
  error instanceof DatabaseError && /No space left|quota exceeded/i.test(error.details.message)

const tooLarge = (most: number) =>
  odataError(
    'too-large',
    `the file would have more than ${most / 2 ** 20} MiB; ask for less with $select, $filter or $top`,
    { target: '$format' },
  )

const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )

function leased(file: FileHandle, { bytes, rows }: Made, leave: () => void): AnswerFile {
  let isOpen = true
  return {
    bytes,
    rows,
    fd: file.fd,
    read: (start, end) => readRange(file, start, end),
    async [Symbol.asyncDispose]() {
      if (!isOpen) return
      isOpen = false
      await file.close()
      leave()
    },
  }
}

async function* readRange(
  file: FileHandle,
  start: number,
  end: number,
): AsyncGenerator<Buffer, void> {
  for (let at = start; at < end;) {
    const buffer = Buffer.allocUnsafe(Math.min(limits.sendAheadBytes, end - at))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
    if (bytesRead === 0) throw new Error(`a file of ${end} bytes and more ends after ${at}`)
    yield buffer.subarray(0, bytesRead)
    at += bytesRead
  }
}

async function unlessGone<T>(made: Promise<T>, gone: AbortSignal): Promise<T> {
  let onGone = () => {}
  const ended = new Promise<never>((_, reject) => {
    onGone = () => reject(new ClientGone())
    if (gone.aborted) onGone()
    gone.addEventListener('abort', onGone, { once: true })
  })
  try {
    return await Promise.race([made, ended])
  } finally {
    gone.removeEventListener('abort', onGone)
  }
}
