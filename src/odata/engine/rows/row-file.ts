// A file with the rows of a set as they are sent, of which a lookup reads one: `["7"],{"id":7,…}` and a line feed. The
// first part is the key, as sql/keyed-rows.ts writes it.
//
// A row is given only if its bytes are those that were read when the index was made, and if they begin with the key. So no
// other row is ever given, even if the file is changed or deleted.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { crc32 } from 'node:zlib'
import { limits } from '../../../core/limits.ts'
import { Resources } from '../../../core/resources.ts'
import type { Snapshot } from '../../../core/snapshot.ts'
import type { EntitySet } from '../../edm/model.ts'
import { linesFile } from '../../sql/csv.ts'
import { keyedRowsSql } from '../../sql/keyed-rows.ts'
import { type FileMaker, makeFile } from '../make-file.ts'
import type { PlacedRow } from '../rows-by-key.ts'
import { RowIndex, type RowIndexParts, type RowPlace } from './row-index.ts'

interface RowFileOptions extends FileMaker {
  readonly timeLimitMs: number
  readonly signal: AbortSignal
  readonly onDamage: (error: unknown) => void
  /** A read that takes so long is slow. */
  readonly readMs: number
}

/** What the thread reads: a file that is open until the thread has ended. */
export interface RowsToIndex {
  readonly fd: number
  readonly rows: number
  readonly bytes: number
}

const COMMA = ','.charCodeAt(0)
const here = fileURLToPath(import.meta.url)
const THREAD = join(dirname(here), `index-rows-thread${extname(here)}`)

export class RowFile implements AsyncDisposable {
  readonly file: RowsToIndex
  readonly #index: RowIndex
  readonly #readMs: number
  readonly #resources: Resources
  /** Until then the engine is asked, since the disk is slow. */
  #slowUntilMs = 0
  /** Grows with each read that was slow, and shrinks with each other one. */
  #doubt = 0

  private constructor(file: RowsToIndex, index: RowIndex, readMs: number, resources: Resources) {
    this.file = file
    this.#index = index
    this.#readMs = readMs
    this.#resources = resources
  }

  /** Throws when it cannot be made, or `signal` is aborted. */
  static async make(
    snapshot: Snapshot,
    set: EntitySet,
    { timeLimitMs, signal, readMs, ...maker }: RowFileOptions,
  ): Promise<RowFile> {
    await using resources = new Resources()
    const dir = join(maker.tempDir, `answer-${randomUUID()}`)
    const content = { snapshot, written: linesFile(keyedRowsSql(set)) }
    const { path, bytes, rows } = await makeFile(content, dir, {
      ...maker,
      maxFileBytes: limits.rowFileBytes,
      clock: { remainingMs: timeLimitMs },
      gone: signal,
    })
    resources.defer(() => rm(dir, { recursive: true, force: true }))
    const { fd } = resources.use(await open(path))
    const order = { fd, rows, bytes }
    const index = new RowIndex(await indexInThread(order, signal))
    return new RowFile(order, index, readMs, resources.move())
  }

  /**
   * The row as the engine writes it, `,{…}`; null where the file has none that can be found, and while the disk is slow.
   * Throws when the file has changed.
   *
   * A row that is in the memory of the system is read in less time than it takes to hand the reading over to another
   * thread. One that is not would keep everybody waiting, so when two of a few reads have taken long, the engine is asked
   * for a while. A single one may have been kept from its processor.
   */
  find(key: readonly string[]): Buffer | null {
    if (performance.now() < this.#slowUntilMs) return null
    for (const { row } of this.#rows(key)) return row
    return null
  }

  /** All rows with that key, under the same conditions; null also where some could not be found. */
  findAll(key: readonly string[]): readonly PlacedRow[] | null {
    if (performance.now() < this.#slowUntilMs || !this.#index.parts.isComplete) return null
    const rows = Array.from(this.#rows(key))
    return rows.length === 0 ? null : rows
  }

  /** Whether it is known that no row has that key. Throws when the file has changed. */
  lacks(key: readonly string[]): boolean {
    if (performance.now() < this.#slowUntilMs || !this.#index.parts.isComplete) return false
    return this.#rows(key).next().done === true
  }

  *#rows(key: readonly string[]): Generator<PlacedRow, void> {
    const wanted = Buffer.from(JSON.stringify(key))
    for (const place of this.#index.places(this.#index.hash(wanted))) {
      const row = rowOf(this.#read(place), place, wanted)
      if (row !== null) yield { row, start: place.start }
    }
  }

  #read({ start, bytes }: RowPlace): Buffer {
    const startedMs = performance.now()
    const line = Buffer.allocUnsafe(bytes)
    const count = readSync(this.file.fd, line, 0, bytes, start)
    this.#judge(performance.now() - startedMs)
    return line.subarray(0, count)
  }

  #judge(readMs: number): void {
    if (readMs < this.#readMs) {
      if (this.#doubt > 0) this.#doubt--
      return
    }
    if (this.#doubt > 0) this.#slowUntilMs = performance.now() + limits.rowReadElsewhereMs
    this.#doubt = this.#doubt > 0 ? 0 : limits.rowReadsInDoubt
  }

  /** It must not be asked any more then. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources[Symbol.asyncDispose]()
  }
}

/** The row in `line`; null when it is one with another key. */
function rowOf(line: Buffer, { crc }: RowPlace, wanted: Buffer): Buffer | null {
  if (crc32(line) !== crc) throw new Error('the file with rows has changed')
  const { length } = wanted
  const isWanted = line[length] === COMMA && wanted.compare(line, 0, length) === 0
  return isWanted ? line.subarray(length, -1) : null
}

/**
 * Makes the index in a separate thread: for a million rows that takes as long as some thousand lookups, which the main
 * thread answers meanwhile. Throws when it is not a file with so many rows, or `signal` is aborted. The thread has ended
 * then.
 */
export async function indexInThread(
  order: RowsToIndex,
  signal: AbortSignal,
): Promise<RowIndexParts> {
  signal.throwIfAborted()
  const worker = new Worker(THREAD, { workerData: order })
  worker.on('error', () => {}) // also when nobody waits any more
  const ended = new AbortController()
  worker.once('exit', () => ended.abort(new Error('the thread that reads rows has ended')))
  try {
    const either = AbortSignal.any([signal, ended.signal])
    const [parts] = (await once(worker, 'message', { signal: either })) as [RowIndexParts]
    return parts
  } finally {
    await worker.terminate()
  }
}
