// A text of megabytes in parts. Each is copied out of DuckDB in a millisecond, all of it would keep the event loop busy.

import type { DuckDBDataChunk } from '@duckdb/node-api'
import { limits } from '../../core/limits.ts'
import { noteCopied } from './collect-chunks.ts'
import { bindings } from '../bindings.ts'

/** Texts, or a part of one, in the memory of DuckDB, which may make the next ones before these are copied. */
export interface TextPart {
  /** Texts that end in it. */
  readonly rows: number
  /** Call it once. */
  copy(): Buffer
}

/** The parts of the text at that address. The last part counts as its row. */
export function partsOfText(
  chunk: DuckDBDataChunk,
  address: number,
  length: number,
): readonly TextPart[] {
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
