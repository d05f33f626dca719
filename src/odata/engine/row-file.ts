// A file with the rows of a set as they are sent, of which a lookup reads one: `["7"],{"id":7,…}` and a line feed. The
// first part is the key, as sql/keyed-rows.ts writes it.
//
// A row is given only if its bytes are those that were read when the index was made, and if they begin with the key. So
// whatever becomes of the file, no other row is ever given.

import { readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { limits } from '../../core/limits.ts'
import type { AnswerFile } from './answer-files.ts'
import { indexInThread } from './index-rows.ts'
import { RowIndex, type RowPlace } from './row-index.ts'

const COMMA = ','.charCodeAt(0)

export class RowFile implements AsyncDisposable {
  readonly #file: AnswerFile
  /** null when it is closed: who still holds the file then holds no memory. */
  #index: RowIndex | null
  /** Until then other threads read it, since its disk is slow. */
  #slowUntilMs = 0
  /** Grows with each read that was slow, and shrinks with each other one. */
  #doubt = 0

  readonly #readMs: number

  private constructor(file: AnswerFile, index: RowIndex, readMs: number) {
    this.#file = file
    this.#index = index
    this.#readMs = readMs
  }

  /**
   * Owns `file` from then on. Throws when it is not such a file, or `signal` is aborted. A read that takes `readMs` is slow.
   */
  static async open(
    file: AnswerFile,
    signal: AbortSignal,
    readMs: number = limits.rowReadMs,
  ): Promise<RowFile> {
    try {
      return new RowFile(file, new RowIndex(await indexInThread(file, signal)), readMs)
    } catch (error) {
      await file[Symbol.asyncDispose]()
      throw error
    }
  }

  get rows(): number {
    return this.#file.rows
  }

  get bytes(): number {
    return this.#file.bytes
  }

  get isClosed(): boolean {
    return this.#index === null
  }

  /**
   * Whether findNow() may be called. A row that is in the memory of the system is read in less time than it takes to hand the
   * reading over to another thread. One that is not would keep everybody waiting, so when two of a few reads have taken
   * long, other threads read for a while. A single one may have been kept from its processor.
   */
  get isAtHand(): boolean {
    return !this.isClosed && performance.now() >= this.#slowUntilMs
  }

  /** The row as the engine writes it, `,{…}`; null where the file has none that can be found. Throws when it has changed. */
  async find(key: readonly string[]): Promise<Buffer | null> {
    const wanted = Buffer.from(JSON.stringify(key))
    for (const place of this.#places(wanted)) {
      const row = rowOf(await readAll(this.#file, place), place, wanted)
      if (row !== null) return row
    }
    return null
  }

  /** As find(), on this thread. */
  findNow(key: readonly string[]): Buffer | null {
    const wanted = Buffer.from(JSON.stringify(key))
    for (const place of this.#places(wanted)) {
      const row = rowOf(this.#readNow(place), place, wanted)
      if (row !== null) return row
    }
    return null
  }

  #places(wanted: Buffer): Iterable<RowPlace> {
    return this.#index?.places(this.#index.hash(wanted)) ?? []
  }

  #readNow({ start, bytes }: RowPlace): Buffer {
    const startedMs = performance.now()
    const line = Buffer.allocUnsafe(bytes)
    const count = readSync(this.#file.fd, line, 0, bytes, start)
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

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#index === null) return
    this.#index = null
    await this.#file[Symbol.asyncDispose]()
  }
}

/** The row in `line`; null when it is one with another key. */
function rowOf(line: Buffer, { crc }: RowPlace, wanted: Buffer): Buffer | null {
  if (crc32(line) !== crc) throw new Error('the file with rows has changed')
  const { length } = wanted
  const isWanted = line[length] === COMMA && wanted.compare(line, 0, length) === 0
  return isWanted ? line.subarray(length, -1) : null
}

async function readAll(file: AnswerFile, { start, bytes }: RowPlace): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of file.read(start, start + bytes)) parts.push(part)
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}
