// A file with the rows of a set as they are sent, of which a lookup reads one: `["7"],{"id":7,…}` and a line feed. The
// first part is the key, as sql/keyed-rows.ts writes it.
//
// A row is given only if its bytes are those that were read when the index was made, and if they begin with the key. So
// whatever becomes of the file, no other row is ever given.

import { setTimeout as rest } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { limits } from '../../core/limits.ts'
import type { AnswerFile } from './answer-files.ts'
import { RowIndex } from './row-index.ts'

const [LINE_FEED, QUOTE, BACKSLASH, CLOSED, COMMA] = Array.from('\n"\\],', (c) => c.charCodeAt(0))

export class RowFile implements AsyncDisposable {
  readonly #file: AnswerFile
  /** null when it is closed: who still holds the file then holds no memory. */
  #index: RowIndex | null

  private constructor(file: AnswerFile, index: RowIndex) {
    this.#file = file
    this.#index = index
  }

  /** Owns `file` from then on. Throws when it is not such a file, or `signal` is aborted. */
  static async open(file: AnswerFile, signal: AbortSignal): Promise<RowFile> {
    try {
      return new RowFile(file, await indexOf(file, signal))
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

  /** The row as the engine writes it, `,{…}`; null where the file has none that can be found. Throws when it has changed. */
  async find(key: readonly string[]): Promise<Buffer | null> {
    const wanted = Buffer.from(JSON.stringify(key))
    const { length } = wanted
    const index = this.#index
    for (const { start, bytes, crc } of index?.places(index.hash(wanted)) ?? []) {
      const line = await readAll(this.#file, start, start + bytes)
      if (crc32(line) !== crc) throw new Error('the file with rows has changed')
      if (line[length] === COMMA && wanted.compare(line, 0, length) === 0)
        return line.subarray(length, -1)
    }
    return null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#index === null) return
    this.#index = null
    await this.#file[Symbol.asyncDispose]()
  }
}

async function readAll(file: AnswerFile, start: number, end: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of file.read(start, end)) parts.push(part)
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}

async function indexOf(file: AnswerFile, signal: AbortSignal): Promise<RowIndex> {
  const index = new RowIndex(file.rows)
  let start = 0
  let left: Buffer = Buffer.alloc(0)
  let since = performance.now()
  for await (const part of file.read(0, file.bytes)) {
    const bytes = left.length === 0 ? part : Buffer.concat([left, part])
    let from = 0
    for (let end = bytes.indexOf(LINE_FEED!); end >= 0; end = bytes.indexOf(LINE_FEED!, from)) {
      if (index.rows === file.rows) throw new Error('the file with rows has too many lines')
      addLine(index, bytes, { from, to: end + 1, start })
      start += end + 1 - from
      from = end + 1
      if (index.rows % ROWS_BETWEEN_LOOKS !== 0) continue
      const spentMs = performance.now() - since
      if (spentMs < limits.rowFileSliceMs) continue
      await rest(spentMs, undefined, { signal })
      since = performance.now()
    }
    left = bytes.subarray(from)
  }
  if (left.length > 0 || index.rows !== file.rows)
    throw new Error('the file with rows has too few lines')
  return index
}

/** The clock takes as long as adding a row. */
const ROWS_BETWEEN_LOOKS = 64

function addLine(
  index: RowIndex,
  bytes: Buffer,
  { from, to, start }: { readonly from: number; readonly to: number; readonly start: number },
): void {
  const hash = index.hash(bytes, from, endOfKey(bytes, from, to))
  const crc = crc32(bytes.subarray(from, to))
  index.add(hash, { start, bytes: to - from, crc }, to - from <= limits.rowInFileBytes)
}

/** After the bracket that closes the array of strings. */
function endOfKey(bytes: Buffer, from: number, to: number): number {
  let isInString = false
  for (let i = from; i < to; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) isInString = !isInString
    else if (isInString && byte === BACKSLASH) i++
    else if (!isInString && byte === CLOSED) return i + 1
  }
  throw new Error('a line of the file with rows has no key')
}
