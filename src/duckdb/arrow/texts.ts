// Texts of a vector, as vectors/text-stream.ts describes them, as a column of Arrow: where each of them ends, and their bytes.

import { bindings } from '../bindings.ts'
import type { BatchBuffer, VectorValues } from './batch-buffer.ts'

/** Places of Arrow in texts and lists have 31 bits. */
export const MOST_TEXT_BYTES = 2 ** 31 - 1

const HEADER_BYTES = 16
const HEADER_WORDS = HEADER_BYTES / 4
const INLINE_BYTES = 12
/** Up to so many bytes are copied sooner one by one. */
const SHORT_BYTES = 64

interface TextBuffers {
  readonly ends: BatchBuffer
  readonly texts: BatchBuffer
}

/**
 * `bits`: of each value, 0 for NULL; null where none is. The header of a NULL is not written. Of more than MOST_TEXT_BYTES the
 * buffers tell how many they are, and cannot be written.
 */
export function textBuffers(values: VectorValues, bits: Uint8Array | null): TextBuffers {
  const words = headersOf(values)
  const { count } = values
  const ends = new Int32Array(count + 1)
  let total = 0
  if (bits === null)
    for (let i = 0; i < count; i++) {
      total += words[HEADER_WORDS * i]!
      ends[i + 1] = total
    }
  else
    for (let i = 0; i < count; i++) {
      if ((bits[i >> 3]! & (1 << (i & 7))) !== 0) total += words[HEADER_WORDS * i]!
      ends[i + 1] = total
    }
  const places = new Uint8Array(ends.buffer)
  return {
    ends: { bytes: places.length, write: (batch, at) => batch.set(places, at) },
    texts: { bytes: total, write: (batch, at) => copyTexts(words, ends, batch, at) },
  }
}

/** Adds to `lengths` how long each text is. */
export function addLengths(
  lengths: Float64Array,
  values: VectorValues,
  bits: Uint8Array | null,
): void {
  const words = headersOf(values)
  for (let i = 0; i < values.count; i++)
    if (bits === null || (bits[i >> 3]! & (1 << (i & 7))) !== 0)
      lengths[i]! += words[HEADER_WORDS * i]!
}

/** In the order of the values. */
function headersOf({ vector, size, count, places }: VectorValues): Uint32Array {
  if (count === 0) return new Uint32Array(0)
  const { buffer, byteOffset } = bindings.vector_get_data(vector, size * HEADER_BYTES)
  const words = new Uint32Array(buffer, byteOffset, size * HEADER_WORDS)
  if (places === null) return words
  const inOrder = new Uint32Array(count * HEADER_WORDS)
  for (let i = 0; i < count; i++)
    for (let word = 0; word < HEADER_WORDS; word++)
      inOrder[HEADER_WORDS * i + word] = words[HEADER_WORDS * places[i]! + word]!
  return inOrder
}

function copyTexts(words: Uint32Array, ends: Int32Array, batch: Uint8Array, at: number): void {
  const count = ends.length - 1
  const view = new DataView(batch.buffer, batch.byteOffset + at)
  let seen = NOTHING
  for (let i = 0; i < count; i++) {
    const start = ends[i]!
    const length = ends[i + 1]! - start
    const word = HEADER_WORDS * i
    if (length <= INLINE_BYTES) {
      if (length === 0) continue
      view.setUint32(start, words[word + 1]!, true)
      view.setUint32(start + 4, words[word + 2]!, true)
      view.setUint32(start + 8, words[word + 3]!, true)
      continue
    }
    const last = lastTouching(words, ends, i)
    const all = ends[last + 1]! - start
    const address = addressAt(words, word)
    if (address < seen.from || address + all > seen.to) seen = memoryFrom(words, ends, i, last)
    const from = address - seen.from
    const bytes = seen.bytes
    if (all > SHORT_BYTES) batch.set(bytes.subarray(from, from + all), at + start)
    else for (let byte = 0; byte < all; byte++) batch[at + start + byte] = bytes[from + byte]!
    i = last
  }
}

const addressAt = (words: Uint32Array, word: number) =>
  words[word + 2]! + words[word + 3]! * 2 ** 32

/** The last of the texts after that one that touch each other in memory and in the batch. */
function lastTouching(words: Uint32Array, ends: Int32Array, first: number): number {
  const high = words[HEADER_WORDS * first + 3]!
  // The lower half of an address; where it ends, so does what touches.
  let next = words[HEADER_WORDS * first + 2]! + ends[first + 1]! - ends[first]!
  let last = first
  for (let i = first + 1; i < ends.length - 1; i++) {
    const length = ends[i + 1]! - ends[i]!
    if (length === 0) continue
    const word = HEADER_WORDS * i
    if (length <= INLINE_BYTES || words[word + 2] !== next || words[word + 3] !== high) break
    next += length
    last = i
  }
  return last
}

/** Memory of DuckDB: its bytes, and the addresses of the first and after the last of them. */
interface Seen {
  readonly bytes: Uint8Array
  readonly from: number
  readonly to: number
}

const NOTHING: Seen = { bytes: new Uint8Array(0), from: 0, to: 0 }

/** Of the texts from `first` to `last`, which touch, and of those after them that follow in memory, whatever short ones are between. */
function memoryFrom(words: Uint32Array, ends: Int32Array, first: number, last: number): Seen {
  const from = addressAt(words, HEADER_WORDS * first)
  let to = from + ends[last + 1]! - ends[first]!
  for (let i = last + 1; i < ends.length - 1; i++) {
    const length = ends[i + 1]! - ends[i]!
    if (length <= INLINE_BYTES) continue
    if (addressAt(words, HEADER_WORDS * i) !== to) break
    to += length
  }
  const pointer = words.byteOffset + 4 * (HEADER_WORDS * first + 2)
  const bytes = bindings.get_data_from_pointer(words.buffer as ArrayBuffer, pointer, to - from)
  return { bytes, from, to }
}
