// A file with the rows of a set as they are sent, of which a lookup reads one: `["7"],{"id":7,…}` and a line feed. The
// first part is the key, as sql/keyed-rows.ts writes it.
//
// A row is given only if its bytes are those that were read when the index was made, and if they begin with the key. So
// whatever becomes of the file, no other row is ever given.

import { crc32 } from 'node:zlib'
import type { AnswerFile } from './answer-files.ts'
import { indexInThread } from './index-rows.ts'
import { RowIndex } from './row-index.ts'

const COMMA = ','.charCodeAt(0)

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
      return new RowFile(file, new RowIndex(await indexInThread(file, signal)))
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
