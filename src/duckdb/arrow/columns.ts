// Vectors of DuckDB as columns of Arrow: mostly the same bytes. What stands in the place of a NULL may be of any row, so it
// is not handed out.

import type duckdb from '@duckdb/node-bindings'
import type { ArrowType } from '../../core/arrow-types.ts'
import { bindings } from '../bindings.ts'

/** Values of a vector, which has room for `size` of them: the first `count`, or those at `places`. */
interface Values {
  readonly vector: duckdb.Vector
  readonly size: number
  readonly count: number
  readonly places: Int32Array | null
}

/** Places of Arrow in texts and lists have 31 bits. */
const MOST_BYTES = 2 ** 31 - 1

/** What messages.ts takes for a batch. */
export interface ColumnParts {
  readonly lengths: number[]
  readonly buffers: Uint8Array[]
}

const NOTHING = new Uint8Array(0)
const HEADER_BYTES = 16
const INLINE_BYTES = 12
/** Up to so many bytes are copied sooner one by one. */
const SHORT_BYTES = 64

export function addColumn(parts: ColumnParts, type: ArrowType, values: Values): void {
  const validity = validityOf(values)
  const { bits, nulls } = validity
  parts.lengths.push(values.count, nulls)
  parts.buffers.push(bits ?? NOTHING)
  switch (type.kind) {
    case 'boolean':
      parts.buffers.push(asBits(fixedValues(values, 1, bits), values.count))
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
    case 'decimal': {
      const bytes = storedBytes(type.precision)
      parts.buffers.push(widened(fixedValues(values, bytes, bits), bytes, values.count))
      return
    }
    case 'text':
    case 'bytes':
      addTexts(parts, values, bits)
      return
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

/** Bytes in which DuckDB has a DECIMAL of so many digits. */
const storedBytes = (precision: number) =>
  precision <= 4 ? 2 : precision <= 9 ? 4 : precision <= 18 ? 8 : 16

const isSet = (bits: Uint8Array, at: number): boolean => (bits[at >> 3]! & (1 << (at & 7))) !== 0

/** One bit for each value, 0 for NULL; null where none is NULL. */
function validityOf({ vector, size, count, places }: Values) {
  const given: Uint8Array | null =
    size === 0 ? null : bindings.vector_get_validity(vector, Math.ceil(size / 64) * 8)
  if (given === null) return { bits: null, nulls: 0 }
  const bits = new Uint8Array(Math.ceil(count / 8))
  let nulls = 0
  for (let i = 0; i < count; i++)
    if (isSet(given, places === null ? i : places[i]!)) bits[i >> 3]! |= 1 << (i & 7)
    else nulls++
  return nulls === 0 ? { bits: null, nulls } : { bits, nulls }
}

/** Values of so many bytes each, zeros for NULL. */
function fixedValues(
  { vector, size, count, places }: Values,
  bytes: number,
  bits: Uint8Array | null,
): Uint8Array {
  if (count === 0) return NOTHING
  const given = bindings.vector_get_data(vector, size * bytes)
  if (places === null && bits === null) return given.subarray(0, count * bytes)
  const copied = new Uint8Array(count * bytes)
  if (places === null) copied.set(given.subarray(0, count * bytes))
  else
    for (let i = 0; i < count; i++)
      copied.set(given.subarray(places[i]! * bytes, (places[i]! + 1) * bytes), i * bytes)
  for (let i = 0; bits !== null && i < count; i++)
    if (!isSet(bits, i)) copied.fill(0, i * bytes, (i + 1) * bytes)
  return copied
}

function asBits(bytes: Uint8Array, count: number): Uint8Array {
  const bits = new Uint8Array(Math.ceil(count / 8))
  for (let i = 0; i < count; i++) if (bytes[i] !== 0) bits[i >> 3]! |= 1 << (i & 7)
  return bits
}

/** Integers of so many bytes as such of 16. */
function widened(values: Uint8Array, bytes: 2 | 4 | 8 | 16, count: number): Uint8Array {
  if (bytes === 16 || count === 0) return values
  const words = new Int32Array(count * 4)
  const { buffer, byteOffset } = values
  const given =
    bytes === 2
      ? new Int16Array(buffer, byteOffset, count)
      : new Int32Array(buffer, byteOffset, (count * bytes) / 4)
  const step = bytes === 8 ? 2 : 1
  for (let i = 0; i < count; i++) {
    const low = given[i * step]!
    const high = bytes === 8 ? given[i * step + 1]! : low >> 31
    words[4 * i] = low
    words[4 * i + 1] = high
    words[4 * i + 2] = words[4 * i + 3] = high >> 31
  }
  return new Uint8Array(words.buffer)
}

/** Adds to `lengths` how long each text is. */
export function addLengths(lengths: Float64Array, vector: duckdb.Vector, count: number): void {
  const { bits } = validityOf({ vector, size: count, count, places: null })
  const words = wordsOf(bindings.vector_get_data(vector, count * HEADER_BYTES))
  for (let i = 0; i < count; i++) if (bits === null || isSet(bits, i)) lengths[i]! += words[4 * i]!
}

/** Texts as text-stream.ts describes them, and where each of them ends. */
function addTexts(
  { buffers }: ColumnParts,
  { vector, size, count, places }: Values,
  bits: Uint8Array | null,
): void {
  const ends = new Int32Array(count + 1)
  if (count === 0) return void buffers.push(new Uint8Array(ends.buffer), NOTHING)
  const headers = bindings.vector_get_data(vector, size * HEADER_BYTES)
  const words = wordsOf(headers)
  const wordOf = (i: number) => 4 * (places === null ? i : places[i]!)
  const addressAt = (word: number) => words[word + 2]! + words[word + 3]! * 2 ** 32
  let total = 0
  for (let i = 0; i < count; i++) {
    if (bits === null || isSet(bits, i)) total += words[wordOf(i)]!
    ends[i + 1] = total
  }
  if (total > MOST_BYTES) throw new Error('a batch of Arrow has no place for so many bytes')
  const texts = new Uint8Array(total)
  let seen: Uint8Array = NOTHING
  let [from, to] = [0, 0]
  for (let i = 0; i < count; i++) {
    const at = ends[i]!
    const length = ends[i + 1]! - at
    const word = wordOf(i)
    if (length <= INLINE_BYTES) {
      const header = word * 4 + 4
      for (let byte = 0; byte < length; byte++) texts[at + byte] = headers[header + byte]!
      continue
    }
    const address = addressAt(word)
    if (address < from || address + length > to) {
      // To see memory of DuckDB takes longer than to copy a text, and texts that follow mostly touch.
      from = address
      to = address + length
      for (let next = i + 1; next < count; next++) {
        const more = ends[next + 1]! - ends[next]!
        if (more <= INLINE_BYTES) continue
        if (addressAt(wordOf(next)) !== to) break
        to += more
      }
      const pointer = headers.byteOffset + word * 4 + 8
      seen = bindings.get_data_from_pointer(headers.buffer as ArrayBuffer, pointer, to - from)
    }
    const start = address - from
    if (length > SHORT_BYTES) texts.set(seen.subarray(start, start + length), at)
    else for (let byte = 0; byte < length; byte++) texts[at + byte] = seen[start + byte]!
  }
  buffers.push(new Uint8Array(ends.buffer), texts)
}

/** An entry has the place of its first item in the vector of all items, and how many it has: two integers of 64 bits. */
function addList(
  parts: ColumnParts,
  item: ArrowType,
  { vector, size, count, places }: Values,
  bits: Uint8Array | null,
): void {
  const ends = new Int32Array(count + 1)
  const words =
    count === 0 ? new Uint32Array(0) : wordsOf(bindings.vector_get_data(vector, size * 16))
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
  parts.buffers.push(new Uint8Array(ends.buffer))
  addColumn(parts, item, {
    vector: bindings.list_vector_get_child(vector),
    size: bindings.list_vector_get_size(vector),
    count: ends[count]!,
    places: isInOrder ? null : items,
  })
}

const wordsOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new Uint32Array(buffer, byteOffset, byteLength / 4)
