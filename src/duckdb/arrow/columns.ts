// Vectors of DuckDB as columns of Arrow: mostly the same bytes. What stands in the place of a NULL may be of any row, so it
// is not handed out.
//
// A column is first measured and then written straight into its batch: memory between the two would be copied twice.

import type duckdb from '@duckdb/node-bindings'
import type { ArrowType } from '../../core/arrow-types.ts'
import { bindings } from '../bindings.ts'
import type { BatchBuffer, VectorValues } from './batch-buffer.ts'
import { addLengths, textBuffers } from './texts.ts'

/** What messages.ts takes for a batch. */
export interface ColumnParts {
  readonly lengths: number[]
  readonly buffers: BatchBuffer[]
  /** Bytes of the column with most text. */
  longestText: number
}

const NOTHING: BatchBuffer = { bytes: 0, write: () => {} }

export function addColumn(parts: ColumnParts, type: ArrowType, values: VectorValues): void {
  const { bits, nulls } = validityOf(values)
  parts.lengths.push(values.count, nulls)
  parts.buffers.push(bits === null ? NOTHING : given(bits))
  switch (type.kind) {
    case 'boolean':
      parts.buffers.push(booleans(values, bits))
      return
    case 'integer':
    case 'float':
      parts.buffers.push(fixedValues(values, type.bytes, bits))
      return
    case 'date':
      parts.buffers.push(fixedValues(values, 4, bits))
      return
    case 'time':
    case 'moment':
    case 'duration':
      parts.buffers.push(fixedValues(values, 8, bits))
      return
    case 'decimal':
      parts.buffers.push(decimals(values, type.precision, bits))
      return
    case 'text':
    case 'bytes': {
      const { ends, texts } = textBuffers(values, bits)
      parts.buffers.push(ends, texts)
      parts.longestText = Math.max(parts.longestText, texts.bytes)
      return
    }
    case 'list':
      addList(parts, type.item, values, bits)
      return
    case 'struct':
      for (const [i, field] of type.fields.entries()) {
        const vector = bindings.struct_vector_get_child(values.vector, i)
        addColumn(parts, field.type, { ...values, vector })
      }
  }
}

/** Adds to `lengths` how long each text is. */
export const addTextLengths = (lengths: Float64Array, values: VectorValues): void =>
  addLengths(lengths, values, validityOf(values).bits)

const given = (bytes: Uint8Array): BatchBuffer => ({
  bytes: bytes.length,
  write: (batch, at) => batch.set(bytes, at),
})

const isSet = (bits: Uint8Array, at: number): boolean => (bits[at >> 3]! & (1 << (at & 7))) !== 0

/** One bit for each value, 0 for NULL; null where none is NULL. */
function validityOf({ vector, size, count, places }: VectorValues) {
  const found: Uint8Array | null =
    size === 0 ? null : bindings.vector_get_validity(vector, Math.ceil(size / 64) * 8)
  if (found === null) return { bits: null, nulls: 0 }
  const bits = new Uint8Array(Math.ceil(count / 8))
  if (places === null) {
    bits.set(found.subarray(0, bits.length))
    if ((count & 7) !== 0) bits[bits.length - 1]! &= (1 << (count & 7)) - 1
  } else for (let i = 0; i < count; i++) if (isSet(found, places[i]!)) bits[i >> 3]! |= 1 << (i & 7)
  let nulls = count
  for (const byte of bits) nulls -= BITS_IN[byte]!
  return nulls === 0 ? { bits: null, nulls } : { bits, nulls }
}

/** How many bits of a byte are set. */
const BITS_IN = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0
  for (let left = byte; left > 0; left >>= 1) count += left & 1
  return count
})

/** Values of so many bytes each, zeros for NULL. */
function fixedValues(values: VectorValues, bytes: number, bits: Uint8Array | null): BatchBuffer {
  const { count } = values
  if (count === 0) return NOTHING
  return {
    bytes: count * bytes,
    write(batch, at) {
      copyValues(values, bytes, batch.subarray(at))
      clearNulls(batch, at, { bytes, bits, count })
    },
  }
}

function copyValues(
  { vector, size, count, places }: VectorValues,
  bytes: number,
  to: Uint8Array,
): void {
  const found = bindings.vector_get_data(vector, size * bytes)
  if (places === null) return to.set(found.subarray(0, count * bytes))
  for (let i = 0; i < count; i++)
    for (let byte = 0; byte < bytes; byte++)
      to[i * bytes + byte] = found[places[i]! * bytes + byte]!
}

interface Nulls {
  /** Of a value. */
  readonly bytes: number
  readonly bits: Uint8Array | null
  readonly count: number
}

function clearNulls(batch: Uint8Array, at: number, { bytes, bits, count }: Nulls): void {
  for (let i = 0; bits !== null && i < count; i++) {
    // Of most eight values none is NULL.
    if ((i & 7) === 0 && bits[i >> 3] === 0xff) i += 7
    else if (!isSet(bits, i))
      for (let byte = 0; byte < bytes; byte++) batch[at + i * bytes + byte] = 0
  }
}

/** A bit for each. */
function booleans(values: VectorValues, bits: Uint8Array | null): BatchBuffer {
  const { count } = values
  return {
    bytes: Math.ceil(count / 8),
    write(batch, at) {
      const bytes = new Uint8Array(count)
      if (count > 0) copyValues(values, 1, bytes)
      for (let i = 0; i < count; i += 8) {
        let byte = 0
        for (let bit = 0; bit < 8 && i + bit < count; bit++)
          if (bytes[i + bit] !== 0) byte |= 1 << bit
        batch[at + (i >> 3)] = bits === null ? byte : byte & bits[i >> 3]!
      }
    },
  }
}

/** Bytes in which DuckDB has a DECIMAL of so many digits. */
const storedBytes = (precision: number) =>
  precision <= 4 ? 2 : precision <= 9 ? 4 : precision <= 18 ? 8 : 16

/** Integers of 16 bytes. */
function decimals(values: VectorValues, precision: number, bits: Uint8Array | null): BatchBuffer {
  const bytes = storedBytes(precision)
  const { size, count, places } = values
  if (bytes === 16 || count === 0) return fixedValues(values, 16, bits)
  return {
    bytes: count * 16,
    write(batch, at) {
      const { buffer, byteOffset } = bindings.vector_get_data(values.vector, size * bytes)
      const found =
        bytes === 2
          ? new Int16Array(buffer, byteOffset, size)
          : new Int32Array(buffer, byteOffset, (size * bytes) / 4)
      const words = new Int32Array(batch.buffer, batch.byteOffset + at, count * 4)
      const step = bytes === 8 ? 2 : 1
      for (let i = 0; i < count; i++) {
        const place = step * (places === null ? i : places[i]!)
        const low = found[place]!
        const high = step === 2 ? found[place + 1]! : low >> 31
        words[4 * i] = low
        words[4 * i + 1] = high
        words[4 * i + 2] = words[4 * i + 3] = high >> 31
      }
      clearNulls(batch, at, { bytes: 16, bits, count })
    },
  }
}

/** An entry has the place of its first item in the vector of all items, and how many it has: two integers of 64 bits. */
function addList(
  parts: ColumnParts,
  item: ArrowType,
  { vector, size, count, places }: VectorValues,
  bits: Uint8Array | null,
): void {
  const ends = new Int32Array(count + 1)
  const words = count === 0 ? new Uint32Array(0) : wordsIn(vector, size)
  let isInOrder = true
  for (let i = 0; i < count; i++) {
    const word = 4 * (places === null ? i : places[i]!)
    const length = bits === null || isSet(bits, i) ? words[word + 2]! : 0
    if (length > 0 && words[word] !== ends[i]) isInOrder = false
    ends[i + 1] = ends[i]! + length
  }
  const items = new Int32Array(isInOrder ? 0 : ends[count]!)
  for (let i = 0; !isInOrder && i < count; i++) {
    const first = words[4 * (places === null ? i : places[i]!)]!
    for (let at = ends[i]!; at < ends[i + 1]!; at++) items[at] = first + at - ends[i]!
  }
  parts.buffers.push(given(new Uint8Array(ends.buffer)))
  addColumn(parts, item, {
    vector: bindings.list_vector_get_child(vector),
    size: bindings.list_vector_get_size(vector),
    count: ends[count]!,
    places: isInOrder ? null : items,
  })
}

function wordsIn(vector: duckdb.Vector, size: number): Uint32Array {
  const { buffer, byteOffset } = bindings.vector_get_data(vector, size * 16)
  return new Uint32Array(buffer, byteOffset, size * 4)
}
