// Rows as batches of Arrow, one for each chunk of the result, or several where its texts are long.
//
// The last column of the query is TRUE. Where the result is streamed, one more row follows in which it is FALSE: by that a
// result that broke off is told from a complete one, as by the text END of text-stream.ts.

import type { DuckDBDataChunk } from '@duckdb/node-api'
import type { ArrowField } from '../../core/arrow-types.ts'
import { limits } from '../../core/limits.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { bindings } from '../bindings.ts'
import { noteCopied } from '../vectors/collect-chunks.ts'
import type { ChunkReader, TextPart } from '../vectors/text-stream.ts'
import { addColumn, addTextLengths, type ColumnParts } from './columns.ts'
import { batchMessage } from './messages.ts'
import { MOST_TEXT_BYTES } from './texts.ts'

/** `columns` have the types of the fields, in their order. */
export const arrowRowsSql = (columns: readonly Sql[], rows: Sql): Sql =>
  sql`SELECT ${sql.join([...columns, sql`TRUE`])} FROM (${rows}) AS page`

/** `copy` of a batch throws where a column of it has more than `mostBytes` of text, as a row alone may have. */
export function arrowReader(
  fields: readonly ArrowField[],
  mostBytes = MOST_TEXT_BYTES,
): ChunkReader {
  const ends = [...fields.map(() => sql`NULL`), sql`FALSE`]
  return {
    end: sql`SELECT ${sql.join(ends)}`,
    hasEnd(chunk, count) {
      const vector = bindings.data_chunk_get_vector(chunk.chunk, fields.length)
      return bindings.vector_get_data(vector, count)[count - 1] === 0
    },
    partsOf: (chunk, rows) => batchesOf(chunk, fields, rows, mostBytes),
    firstBytes: () => Buffer.alloc(0),
  }
}

function batchesOf(
  chunk: DuckDBDataChunk,
  fields: readonly ArrowField[],
  rows: number,
  mostBytes: number,
): Batch[] {
  if (rows === 0) return []
  const whole = measured(chunk, fields, 0, rows)
  const bytes = whole.buffers.reduce((sum, buffer) => sum + buffer.bytes, 0)
  if (bytes <= limits.sendAheadBytes)
    return [new Batch(rows, { chunk, measure: () => whole, mostBytes })]
  const lengths = new Float64Array(rows)
  for (const [i, { type }] of fields.entries()) {
    if (!/^(?:text|bytes)$/.test(type.kind)) continue
    const vector = bindings.data_chunk_get_vector(chunk.chunk, i)
    addTextLengths(lengths, { vector, size: chunk.rowCount, count: rows, places: null })
  }
  const batches: Batch[] = []
  for (let from = 0; from < rows;) {
    let [to, bytes] = [from + 1, lengths[from]!]
    while (to < rows && bytes + lengths[to]! <= limits.sendAheadBytes) bytes += lengths[to++]!
    const [first, count] = [from, to - from]
    const measure = () => measured(chunk, fields, first, count)
    batches.push(new Batch(count, { chunk, measure, mostBytes }))
    from = to
  }
  return batches
}

function measured(
  chunk: DuckDBDataChunk,
  fields: readonly ArrowField[],
  from: number,
  count: number,
): ColumnParts {
  const parts: ColumnParts = { lengths: [], buffers: [], longestText: 0 }
  const size = chunk.rowCount
  const places = from === 0 ? null : Int32Array.from({ length: count }, (_, i) => from + i)
  for (const [i, { type }] of fields.entries()) {
    const vector = bindings.data_chunk_get_vector(chunk.chunk, i)
    addColumn(parts, type, { vector, size, count, places })
  }
  return parts
}

interface Held {
  /** The memory of a chunk is freed with its object, so the object is retained until its bytes are copied. */
  readonly chunk: DuckDBDataChunk
  readonly measure: () => ColumnParts
  readonly mostBytes: number
}

class Batch implements TextPart {
  readonly rows: number
  /** Null once it is copied: what it holds may then be freed, though the batch itself is still there. */
  #held: Held | null

  constructor(rows: number, held: Held) {
    this.rows = rows
    this.#held = held
  }

  copy(): Buffer {
    if (this.#held === null) throw new Error('the rows have already been copied')
    const { lengths, buffers, longestText } = this.#held.measure()
    if (longestText > this.#held.mostBytes)
      throw new Error('a batch of Arrow has no place for so many bytes')
    const message = batchMessage(this.rows, lengths, buffers)
    this.#held = null
    noteCopied(message.length)
    return message
  }
}
