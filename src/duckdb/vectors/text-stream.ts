// The texts of a one-column query as bytes that go straight to a socket, without a JavaScript string per row.
//
// A chunk of the result holds one 16-byte header per text:
//
//   | offset | bytes | content                                                    |
//   |--------|-------|------------------------------------------------------------|
//   | 0      | 4     | length in bytes, little-endian                             |
//   | 4      | 12    | the text itself when its length is 12 or less, else        |
//   | 8      | 8     | address of the text, little-endian                         |
//
// DuckDB writes the texts of a chunk contiguously, so neighbours whose addresses touch are copied as one
// span: a few copies for 2,048 rows.
//
// The driver ends a stream whose query failed exactly as one that is complete. So a streamed query is followed by one
// more row, END; a stream is complete if and only if END was its last text. No text of the query may begin like END.
// A whole result has none: the driver throws what went wrong before it gives the result.

import type duckdb from '@duckdb/node-bindings'
import { type DuckDBDataChunk, StatementType } from '@duckdb/node-api'
import { limits } from '../../core/limits.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { bindings } from '../bindings.ts'
import { noteCopied } from './collect-chunks.ts'
import type { Connection } from '../database.ts'
import { ownError } from '../errors.ts'

const END = '#END'
const HEADER_BYTES = 16
const HEADER_WORDS = HEADER_BYTES / 4
const INLINE_BYTES = 12
const ADDRESS_OFFSET = 8

export interface TextStreamOptions {
  /** Texts to hand out; one more in the result is kept in `following`. */
  readonly maxRows: number
  /**
   * `whole`: DuckDB computes everything before `open` returns, which throws what goes wrong. For small results.
   * `streamed`: rows come while DuckDB works; a failure shows itself in `next` or `open`.
   */
  readonly mode: 'whole' | 'streamed'
  /** Whether few texts may have megabytes: the main thread then does not copy them all at once. */
  readonly isLong?: boolean
  /** How chunks are read, if not as texts. */
  readonly reader?: ChunkReader
}

/** What the rows of a chunk become. */
export interface ChunkReader {
  /** The row after the last one of a streamed result. */
  readonly end: Sql
  /** Whether the last of so many rows is that one. */
  hasEnd(chunk: DuckDBDataChunk, count: number): boolean
  /** The first of its rows. */
  partsOf(chunk: DuckDBDataChunk, rows: number): TextPart[]
  firstBytes(chunk: DuckDBDataChunk, row: number): Buffer
}

/** An open result. It uses its connection exclusively until it has ended or is disposed of. */
export class TextStream implements AsyncDisposable {
  readonly #connection: Connection
  readonly #chunks: Chunks
  readonly #maxRows: number
  readonly #reader: ChunkReader
  #ended = false
  /** What is left of the last chunk. */
  #left: TextPart[] = []
  #rows = 0
  #following: Buffer | null = null

  private constructor(
    connection: Connection,
    chunks: Chunks,
    { maxRows, reader = textReader }: TextStreamOptions,
  ) {
    this.#connection = connection
    this.#chunks = chunks
    this.#maxRows = maxRows
    this.#reader = reader
  }

  /**
   * `query` is one SELECT of one VARCHAR column without NULL, or of what the reader takes. Throws DatabaseError.
   *
   * Its values are literals of the text: a statement with parameters is planned twice, when it is prepared and again
   * with their values, and planning is most of the time of a small query.
   */
  static async open(
    connection: Connection,
    query: Sql,
    options: TextStreamOptions,
  ): Promise<TextStream> {
    const { mode, isLong = false, reader = textReader } = options
    if (!query.isOneSelect) throw new Error('not one SELECT')
    const chunks =
      mode === 'whole'
        ? await openWhole(connection, query, isLong)
        : await openStreamed(connection, query, reader.end)
    return new TextStream(connection, chunks, options)
  }

  get rows(): number {
    return this.#rows
  }

  /** Whether all texts have been handed out: `next` will give null. */
  get hasEnded(): boolean {
    return this.#ended && this.#left.length === 0
  }

  /**
   * The text after the last of `maxRows`, or its first limits.sendAheadBytes; null when there is none. Known when it has
   * ended.
   */
  get following(): Buffer | null {
    return this.#following
  }

  /**
   * The next texts, or null after the last: as many as have limits.sendAheadBytes, or a part of one that has more. To be
   * called again when the promise is settled. Throws DatabaseError of type `Incomplete` when the result broke off: what
   * was handed out before is then not the whole answer.
   */
  async next(): Promise<TextPart | null> {
    while (this.#left.length === 0 && !this.#ended) {
      const next = this.#chunks.next()
      this.#left = this.#takeChunk(next instanceof Promise ? await next : next)
    }
    const texts = this.#left.shift()
    this.#rows += texts?.rows ?? 0
    return texts ?? null
  }

  /**
   * Ends the query when it has not ended, and leaves the connection ready for another one. DuckDB keeps what was
   * made of a result that nobody reads to its end until the connection runs something else.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended || !this.#chunks.isStreamed || this.#connection.isClosed) return
    this.#ended = true
    await this.#connection.interruptAndWait()
    try {
      await this.#connection.run(sql`SELECT 1`)
    } catch {
      await this.#connection[Symbol.asyncDispose]() // nobody may use it again
    }
  }

  #takeChunk(chunk: DuckDBDataChunk | null): TextPart[] {
    const count = chunk?.rowCount ?? 0
    if (chunk === null || count === 0) return this.#takeEnd()
    const isLast = this.#chunks.isStreamed && this.#reader.hasEnd(chunk, count)
    const texts = isLast ? count - 1 : count
    const taken = Math.min(texts, this.#maxRows - this.#rows)
    if (texts > taken) this.#following = this.#reader.firstBytes(chunk, taken)
    this.#ended = isLast || this.#following !== null
    return this.#reader.partsOf(chunk, taken)
  }

  #takeEnd(): TextPart[] {
    if (this.#chunks.isStreamed) throw incomplete()
    this.#ended = true
    return []
  }
}

const textReader: ChunkReader = {
  end: sql`SELECT ${sql.value(END)}`,
  hasEnd: (chunk, count) => textAt(readHeaders(chunk, count), count - 1) === END,
  partsOf: (chunk, rows) => piecesOf(chunk, readHeaders(chunk, chunk.rowCount), rows),
  firstBytes(chunk, row) {
    const headers = readHeaders(chunk, chunk.rowCount)
    return piecesOf(chunk, rowsFrom(headers, row), 1)[0]!.copy()
  },
}

class Texts implements TextPart {
  readonly rows: number
  readonly #headers: Uint8Array
  /** The memory of a chunk is freed with its object, so the object is retained until its bytes are copied. */
  #chunk: DuckDBDataChunk | null

  constructor(chunk: DuckDBDataChunk, headers: Uint8Array, rows: number) {
    this.#chunk = chunk
    this.#headers = headers
    this.rows = rows
  }

  copy(): Buffer {
    if (this.#chunk === null) throw new Error('the strings have already been copied')
    const bytes = copyTexts(this.#headers, this.rows)
    this.#chunk = null
    noteCopied(bytes.length)
    return bytes
  }
}

/** What a result consists of; null or a chunk without rows after the last one. */
interface Chunks {
  readonly isStreamed: boolean
  next(): Promise<DuckDBDataChunk | null> | DuckDBDataChunk | null
}

/** All is in memory when it is open, so that few texts need no way through the thread pool; to fetch them is to copy them. */
async function openWhole(connection: Connection, query: Sql, isLong: boolean): Promise<Chunks> {
  const result = await connection.attempt(() => connection.driver.run(query.inline()))
  if (isLong || result.rowCount > limits.wholeResultRowsAtOnce)
    return { isStreamed: false, next: () => connection.attempt(() => result.fetchChunk()) }
  const count = result.chunkCount
  let i = 0
  return { isStreamed: false, next: () => (i < count ? result.getChunk(i++) : null) }
}

async function openStreamed(connection: Connection, query: Sql, end: Sql): Promise<Chunks> {
  const marked = sql`${query} UNION ALL ${end}`
  const result = await connection.attempt(async () => {
    const statement = await connection.driver.prepare(marked.inline())
    try {
      if (statement.statementType !== StatementType.SELECT) throw new Error('not a SELECT')
      return await statement.stream()
    } finally {
      statement.destroySync()
    }
  })
  return { isStreamed: true, next: () => connection.attempt(() => result.fetchChunk()) }
}

const incomplete = () => ownError('Incomplete', 'the result ended before its last row')

function readHeaders(chunk: DuckDBDataChunk, count: number): Uint8Array {
  const vector = bindings.data_chunk_get_vector(chunk.chunk, 0)
  requireNoNull(vector, count)
  return bindings.vector_get_data(vector, count * HEADER_BYTES)
}

/** A chunk of long texts takes long to copy, so it is never handed out all at once. */
function piecesOf(chunk: DuckDBDataChunk, headers: Uint8Array, rows: number): TextPart[] {
  const { lengthOf, addressOf } = wordsIn(headers, rows)
  const pieces: TextPart[] = []
  for (let from = 0; from < rows;) {
    let [to, bytes] = [from + 1, lengthOf(from)]
    while (to < rows && bytes + lengthOf(to) <= limits.sendAheadBytes) bytes += lengthOf(to++)
    if (bytes > limits.sendAheadBytes) pieces.push(...partsOfText(chunk, addressOf(from), bytes))
    else pieces.push(new Texts(chunk, rowsFrom(headers, from), to - from))
    from = to
  }
  return pieces
}

/** The address of a text that is not within its header has fewer than 53 bits, so a number holds it exactly. */
function wordsIn(headers: Uint8Array, rows: number) {
  const words = new Uint32Array(headers.buffer, headers.byteOffset, rows * HEADER_WORDS)
  return {
    lengthOf: (row: number) => words[row * HEADER_WORDS]!,
    addressOf: (row: number) =>
      words[row * HEADER_WORDS + 2]! + words[row * HEADER_WORDS + 3]! * 2 ** 32,
  }
}

/** The header of a NULL is not written, so its address leads anywhere. One bit per row, 64 to a word; 0 is NULL. */
function requireNoNull(vector: duckdb.Vector, count: number): void {
  const words = Math.ceil(count / 64)
  const bits: Uint8Array | null = bindings.vector_get_validity(vector, words * 8)
  for (let row = 0; bits !== null && row < count; row++)
    if ((bits[row >> 3]! & (1 << (row & 7))) === 0)
      throw new Error('a string of the result is NULL')
}

/** The text of a row when it is short enough to be in its header. */
function textAt(headers: Uint8Array, row: number): string | null {
  const at = row * HEADER_BYTES
  const length = headers[at]! | (headers[at + 1]! << 8) | (headers[at + 2]! << 16)
  if (length > INLINE_BYTES || headers[at + 3] !== 0) return null
  return Buffer.from(headers.subarray(at + 4, at + 4 + length)).toString('latin1')
}

const rowsFrom = (headers: Uint8Array, row: number) => headers.subarray(row * HEADER_BYTES)

function copyTexts(headers: Uint8Array, rows: number): Buffer {
  const { lengthOf, addressOf } = wordsIn(headers, rows)
  let size = 0
  for (let row = 0; row < rows; row++) size += lengthOf(row)
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (let row = 0; row < rows;) {
    const header = row * HEADER_BYTES
    let span: Uint8Array
    if (lengthOf(row) <= INLINE_BYTES) {
      span = headers.subarray(header + 4, header + 4 + lengthOf(row))
      row++
    } else {
      const start = addressOf(row)
      let end = start
      while (row < rows && lengthOf(row) > INLINE_BYTES && addressOf(row) === end)
        end += lengthOf(row++)
      const pointer = headers.byteOffset + header + ADDRESS_OFFSET
      span = bindings.get_data_from_pointer(headers.buffer as ArrayBuffer, pointer, end - start)
    }
    bytes.set(span, at)
    at += span.length
  }
  return bytes
}

/** Texts, or a part of one, in the memory of DuckDB, which may make the next ones before these are copied. */
export interface TextPart {
  /** Texts that end in it. */
  readonly rows: number
  /** Call it once. */
  copy(): Buffer
}

/**
 * The parts of the text at that address, the last of which counts as its row. Each is copied out of DuckDB in a
 * millisecond; all of a text of megabytes would keep the event loop busy.
 */
function partsOfText(chunk: DuckDBDataChunk, address: number, length: number): readonly TextPart[] {
  const size = limits.sendAheadBytes
  return Array.from({ length: Math.ceil(length / size) }, (_, i) => {
    const start = i * size
    const rows = start + size < length ? 0 : 1
    return partOf(chunk, { address: address + start, length: Math.min(size, length - start), rows })
  })
}

interface Place {
  readonly address: number
  readonly length: number
  readonly rows: number
}

function partOf(chunk: DuckDBDataChunk, { address, length, rows }: Place): TextPart {
  /** The memory of a chunk is freed with its object, so the object is retained until its bytes are copied. */
  let held: DuckDBDataChunk | null = chunk
  return {
    rows,
    copy() {
      if (held === null) throw new Error('the strings have already been copied')
      const pointer = new BigUint64Array([BigInt(address)])
      const bytes = bindings.get_data_from_pointer(pointer.buffer, 0, length)
      held = null
      noteCopied(length)
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    },
  }
}
