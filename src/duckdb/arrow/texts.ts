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

interface Headers {
  readonly words: Uint32Array
  /** Of the value with that number. */
  readonly wordOf: (i: number) => number
}

interface TextBuffers {
  readonly ends: BatchBuffer
  readonly texts: BatchBuffer
}

/**
 * `bits`: of each value, 0 for NULL; null where none is. The header of a NULL is not written. Of more than MOST_TEXT_BYTES the
 * buffers tell how many they are, and cannot be written.
 */
export function textBuffers(values: VectorValues, bits: Uint8Array | null): TextBuffers {
  const headers = headersOf(values)
  const { count } = values
  const ends = new Int32Array(count + 1)
  const { words, wordOf } = headers
  let total = 0
  for (let i = 0; i < count; i++) {
    if (bits === null || (bits[i >> 3]! & (1 << (i & 7))) !== 0) total += words[wordOf(i)]!
    ends[i + 1] = total
  }
  const places = new Uint8Array(ends.buffer)
  return {
    ends: { bytes: places.length, write: (batch, at) => batch.set(places, at) },
    texts: { bytes: total, write: (batch, at) => copyTexts(headers, ends, batch, at) },
  }
}

/** Adds to `lengths` how long each text is. */
export function addLengths(
  lengths: Float64Array,
  values: VectorValues,
  bits: Uint8Array | null,
): void {
  const { words, wordOf } = headersOf(values)
  for (let i = 0; i < values.count; i++)
    if (bits === null || (bits[i >> 3]! & (1 << (i & 7))) !== 0) lengths[i]! += words[wordOf(i)]!
}

function headersOf({ vector, size, count, places }: VectorValues): Headers {
  const wordOf = (i: number) => HEADER_WORDS * (places === null ? i : places[i]!)
  if (count === 0) return { words: new Uint32Array(0), wordOf }
  const { buffer, byteOffset } = bindings.vector_get_data(vector, size * HEADER_BYTES)
  return { words: new Uint32Array(buffer, byteOffset, size * HEADER_WORDS), wordOf }
}

function copyTexts(headers: Headers, ends: Int32Array, batch: Uint8Array, at: number): void {
  const { words, wordOf } = headers
  const count = ends.length - 1
  const view = new DataView(batch.buffer, batch.byteOffset + at)
  let seen = NOTHING
  for (let i = 0; i < count; i++) {
    const start = ends[i]!
    const word = wordOf(i)
    if (ends[i + 1]! - start <= INLINE_BYTES) {
      if (ends[i + 1] === start) continue
      view.setUint32(start, words[word + 1]!, true)
      view.setUint32(start + 4, words[word + 2]!, true)
      view.setUint32(start + 8, words[word + 3]!, true)
      continue
    }
    const address = addressAt(words, word)
    if (address < seen.from || address + ends[i + 1]! - start > seen.to)
      seen = memoryFrom(headers, ends, i)
    const last = lastTouching(headers, ends, i, seen.to)
    const from = address - seen.from
    const bytes = seen.bytes.subarray(from, from + ends[last + 1]! - start)
    if (bytes.length > SHORT_BYTES) batch.set(bytes, at + start)
    else for (let byte = 0; byte < bytes.length; byte++) batch[at + start + byte] = bytes[byte]!
    i = last
  }
}

const addressAt = (words: Uint32Array, word: number) =>
  words[word + 2]! + words[word + 3]! * 2 ** 32

/** Memory of DuckDB: its bytes, and the addresses of the first and after the last of them. */
interface Seen {
  readonly bytes: Uint8Array
  readonly from: number
  readonly to: number
}

const NOTHING: Seen = { bytes: new Uint8Array(0), from: 0, to: 0 }

/** Of the text with that number and of those after it that follow in memory, whatever short ones are between them. */
function memoryFrom({ words, wordOf }: Headers, ends: Int32Array, first: number): Seen {
  const from = addressAt(words, wordOf(first))
  let to = from + ends[first + 1]! - ends[first]!
  for (let i = first + 1; i < ends.length - 1; i++) {
    const length = ends[i + 1]! - ends[i]!
    if (length <= INLINE_BYTES) continue
    if (addressAt(words, wordOf(i)) !== to) break
    to += length
  }
  const pointer = words.byteOffset + 4 * (wordOf(first) + 2)
  const bytes = bindings.get_data_from_pointer(words.buffer as ArrayBuffer, pointer, to - from)
  return { bytes, from, to }
}

/** The last of the texts after that one that touch each other in memory and in the batch. */
function lastTouching({ words, wordOf }: Headers, ends: Int32Array, first: number, to: number) {
  const begin = addressAt(words, wordOf(first)) - ends[first]!
  let last = first
  while (last + 2 < ends.length) {
    const length = ends[last + 2]! - ends[last + 1]!
    const isNext =
      length === 0 ||
      (length > INLINE_BYTES &&
        addressAt(words, wordOf(last + 1)) === begin + ends[last + 1]! &&
        begin + ends[last + 2]! <= to)
    if (!isNext) break
    last++
  }
  return last
}
