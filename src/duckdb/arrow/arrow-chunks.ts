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
import { addColumn, addLengths, type ColumnParts } from './columns.ts'
import { batchMessage } from './messages.ts'

/** `columns` have the types of the fields, in their order. */
export const arrowRowsSql = (columns: readonly Sql[], rows: Sql): Sql =>
  sql`SELECT ${sql.join([...columns, sql`TRUE`])} FROM (${rows}) AS page`

export function arrowReader(fields: readonly ArrowField[]): ChunkReader {
  const ends = [...fields.map(() => sql`NULL`), sql`FALSE`]
  return {
    end: sql`SELECT ${sql.join(ends)}`,
    hasEnd(chunk, count) {
      const vector = bindings.data_chunk_get_vector(chunk.chunk, fields.length)
      return bindings.vector_get_data(vector, count)[count - 1] === 0
    },
    partsOf: (chunk, rows) => batchesOf(chunk, fields, rows),
    firstBytes: () => Buffer.alloc(0),
  }
}

function batchesOf(chunk: DuckDBDataChunk, fields: readonly ArrowField[], rows: number): Batch[] {
  const texts = [...fields.keys()].filter((i) => /^(?:text|bytes)$/.test(fields[i]!.type.kind))
  if (texts.length === 0) return rows === 0 ? [] : [new Batch(chunk, fields, 0, rows)]
  const lengths = new Float64Array(rows)
  for (const i of texts) addLengths(lengths, bindings.data_chunk_get_vector(chunk.chunk, i), rows)
  const batches: Batch[] = []
  for (let from = 0; from < rows;) {
    let [to, bytes] = [from + 1, lengths[from]!]
    while (to < rows && bytes + lengths[to]! <= limits.sendAheadBytes) bytes += lengths[to++]!
    batches.push(new Batch(chunk, fields, from, to))
    from = to
  }
  return batches
}

class Batch implements TextPart {
  readonly rows: number
  readonly #from: number
  readonly #fields: readonly ArrowField[]
  /** The memory of a chunk is freed with its object, so the object is retained until its bytes are copied. */
  #chunk: DuckDBDataChunk | null

  constructor(chunk: DuckDBDataChunk, fields: readonly ArrowField[], from: number, to: number) {
    this.#chunk = chunk
    this.#fields = fields
    this.#from = from
    this.rows = to - from
  }

  copy(): Buffer {
    if (this.#chunk === null) throw new Error('the rows have already been copied')
    const parts: ColumnParts = { lengths: [], buffers: [] }
    const size = this.#chunk.rowCount
    const from = this.#from
    const places = from === 0 ? null : Int32Array.from({ length: this.rows }, (_, i) => from + i)
    for (const [i, { type }] of this.#fields.entries()) {
      const vector = bindings.data_chunk_get_vector(this.#chunk.chunk, i)
      addColumn(parts, type, { vector, size, count: this.rows, places })
    }
    this.#chunk = null
    const message = batchMessage(this.rows, parts.lengths, parts.buffers)
    noteCopied(message.length)
    return message
  }
}
