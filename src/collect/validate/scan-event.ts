// One pass over the bytes of an event: whether they are JSON, and the span of each value (spans.ts).

import { limits } from '../../core/limits.ts'
import { digitsEnd, isDigit, isSecondHalf, isSurrogate, isUnit } from './plain-bytes.ts'
import {
  ARRAY,
  BOOLEAN,
  ESCAPED,
  FRACTION,
  LONG,
  NULL,
  NUMBER,
  OBJECT,
  ODD,
  Spans,
  STRING,
} from './spans.ts'

/** Names of columns, to be found in an event. */
export interface ColumnNames {
  /** How many columns there are. */
  readonly count: number
  /** The bytes of `name":`, as nearly all senders write it: of the columns, and then of others. */
  readonly starts: Uint8Array[]
  /** Numbers of columns, and of other names. */
  readonly indexes: Map<string, number>
  /**
   * Other names that events have had: the first ones, since senders may make up any. They have numbers after those of the
   * columns, and are found as quickly.
   */
  readonly others: string[]
  /** The one that last came first, and then the one that last came after each. */
  readonly following: Int32Array
}

/** UTF-8 does not have this byte. */
const NEVER = Uint8Array.of(0xff)

/** `others`: how many other names are remembered. */
export function columnNames(names: readonly string[], others = 0): ColumnNames {
  const most = names.length + others
  return {
    count: names.length,
    starts: names.map(startOf),
    indexes: new Map(names.map((name, index) => [name, index])),
    others: [],
    following: Int32Array.from({ length: most + 1 }, (_, index) => index),
  }
}

/** A name that needs escapes in JSON is found by its text alone. */
const startOf = (name: string): Uint8Array =>
  JSON.stringify(name) === `"${name}"` ? Buffer.from(`${name}":`) : NEVER

/** Characters of a number without an exponent that a double holds exactly, whatever digits they are. */
const EXACT_LENGTH = 15

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const COLON = 0x3a
const BACKSLASH = 0x5c
const END_OF_ARRAY = 0x5d
const END_OF_OBJECT = 0x7d

export class EventScan {
  readonly spans = new Spans()
  /** The node of the value of each column, and of each other name; 0 for one that the event does not have. */
  places = new Int32Array(0)
  /** Some number is longer than a double can hold, or has an exponent. */
  hasLongNumber = false
  /** Some escape is one half of a surrogate pair without the other half. */
  hasSurrogate = false
  /** Two escapes are a surrogate pair. */
  hasPair = false
  repeatsName = false
  /** Names that are neither columns nor remembered, and the nodes of their values. */
  readonly #unknown = new Map<string, number>()
  #names = columnNames([])
  #bytes: Buffer = Buffer.alloc(0)
  #limit = 0

  /**
   * The offset after the object that begins at `start`, which is node 0; -1 when this is not JSON, does not end before
   * `limit`, or is nested too deeply. Bytes are UTF-8.
   */
  read(bytes: Buffer, start: number, limit: number, names: ColumnNames): number {
    const columns = names.starts.length
    if (this.places.length < names.following.length)
      this.places = new Int32Array(names.following.length)
    // For so few fill() takes longer.
    for (let column = 0; column < columns; column++) this.places[column] = 0
    this.hasLongNumber = this.hasSurrogate = this.hasPair = this.repeatsName = false
    if (this.#unknown.size > 0) this.#unknown.clear()
    this.#names = names
    this.#bytes = bytes
    this.#limit = limit
    this.spans.begin(bytes)
    const end = this.#event(start)
    return end > limit ? -1 : end
  }

  /** Names of the event that are no columns, in its order. */
  unknown(): readonly string[] {
    const { count, starts, others } = this.#names
    if (this.#unknown.size > 0) return this.#unknownInOrder()
    if (starts.length === count) return NO_NAMES
    let found: string[] | null = null
    let last = 0
    for (let number = count; number < starts.length; number++) {
      const node = this.places[number]!
      if (node === 0) continue
      if (node < last) return this.#unknownInOrder()
      last = node
      found ??= []
      found.push(others[number - count]!)
    }
    return found ?? NO_NAMES
  }

  /** The node of the value of one of unknown(). */
  nodeOfUnknown(name: string): number {
    return this.#unknown.get(name) ?? this.places[this.#names.indexes.get(name)!]!
  }

  #unknownInOrder(): readonly string[] {
    const { count, others } = this.#names
    const all: (readonly [name: string, node: number])[] = [...this.#unknown]
    for (const [i, name] of others.entries()) all.push([name, this.places[count + i]!])
    return all
      .filter(([, node]) => node !== 0)
      .toSorted(([, a], [, b]) => a - b)
      .map(([name]) => name)
  }

  // What follows returns the offset after a part of the text, or -1 when that part is not there.

  #value(at: number, depth: number): number {
    const byte = this.#bytes[at]!
    if (byte === QUOTE) return this.#string(at)
    if (byte === MINUS || isDigit(byte)) return this.#number(at)
    if (byte === 0x7b) return this.#object(at, depth + 1)
    if (byte === 0x5b) return this.#array(at, depth + 1)
    if (byte === 0x74) return this.#word(at, BOOLEAN, WORDS.true)
    if (byte === 0x66) return this.#word(at, BOOLEAN, WORDS.false)
    return this.#word(at, NULL, WORDS.null)
  }

  #event(start: number): number {
    const { spans, places } = this
    const { following } = this.#names
    const bytes = this.#bytes
    spans.add(OBJECT, start, start)
    let at = this.#space(start + 1)
    if (bytes[at] === END_OF_OBJECT) return spans.close(0, at + 1)
    for (let next = 0; ;) {
      if (bytes[at] !== QUOTE) return -1
      // Senders write the members in the same order as before, or in that of the columns.
      let column = following[next]!
      let length = this.#lengthOfStart(at + 1, column)
      if (length > 0) at += 1 + length
      else {
        length = this.#lengthOfStart(at + 1, next)
        at = length > 0 ? at + 1 + length : this.#name(at)
        if (at === -1) return -1
        column = length > 0 ? next : this.#takeName()
        if (column !== -1) following[next] = column
      }
      if (column !== -1) {
        if (places[column] !== 0) this.repeatsName = true
        places[column] = spans.count
        next = column + 1
      }
      if (bytes[at]! <= SPACE) at = this.#space(at)
      at = bytes[at] === QUOTE ? this.#string(at) : this.#value(at, 1)
      if (at === -1) return -1
      if (bytes[at]! <= SPACE) at = this.#space(at)
      if (bytes[at] !== COMMA) break
      if (bytes[++at]! <= SPACE) at = this.#space(at)
    }
    return bytes[at] === END_OF_OBJECT ? spans.close(0, at + 1) : -1
  }

  /** The length of the name of a column with its quote and colon, if this is what stands here; else 0. */
  #lengthOfStart(at: number, column: number): number {
    const name = this.#names.starts[column]
    if (name === undefined) return 0
    const { length } = name
    const bytes = this.#bytes
    for (let i = 0; i < length; i++) if (bytes[at + i] !== name[i]) return 0
    return length
  }

  /** The number of the name that was read last; -1 when it has none, and then it is noted as unknown. */
  #takeName(): number {
    const { spans } = this
    const name = spans.text(spans.count - 1)
    const number = this.#names.indexes.get(name) ?? this.#remember(name)
    if (number !== -1) {
      spans.count--
      return number
    }
    if (this.#unknown.has(name)) this.repeatsName = true
    this.#unknown.set(name, spans.count)
    return -1
  }

  #remember(name: string): number {
    const { starts, indexes, others, following } = this.#names
    const number = starts.length
    if (number === following.length - 1 || name.length > REMEMBERED_LENGTH) return -1
    starts.push(startOf(name))
    others.push(name)
    indexes.set(name, number)
    this.places[number] = 0
    return number
  }

  #object(start: number, depth: number): number {
    if (depth > limits.eventDepth) return -1
    const { spans } = this
    const bytes = this.#bytes
    const object = spans.count
    spans.add(OBJECT, start, start)
    let at = this.#space(start + 1)
    if (bytes[at] === END_OF_OBJECT) return spans.close(object, at + 1)
    for (;;) {
      at = this.#name(at)
      if (at === -1) return -1
      if (bytes[at]! <= SPACE) at = this.#space(at)
      at = bytes[at] === QUOTE ? this.#string(at) : this.#value(at, depth)
      if (at === -1) return -1
      if (bytes[at]! <= SPACE) at = this.#space(at)
      if (bytes[at] !== COMMA) break
      if (bytes[++at]! <= SPACE) at = this.#space(at)
    }
    if (bytes[at] !== END_OF_OBJECT) return -1
    spans.close(object, at + 1)
    this.repeatsName ||= spans.repeatsName(object)
    return at + 1
  }

  #name(start: number): number {
    const bytes = this.#bytes
    const end = bytes[start] === QUOTE ? this.#string(start) : -1
    if (end === -1) return -1
    const at = bytes[end]! <= SPACE ? this.#space(end) : end
    return bytes[at] === COLON ? at + 1 : -1
  }

  #array(start: number, depth: number): number {
    if (depth > limits.eventDepth) return -1
    const { spans } = this
    const bytes = this.#bytes
    const array = spans.count
    spans.add(ARRAY, start, start)
    let at = this.#space(start + 1)
    if (bytes[at] === END_OF_ARRAY) return spans.close(array, at + 1)
    for (;;) {
      at = this.#value(at, depth)
      if (at === -1) return -1
      if (bytes[at]! <= SPACE) at = this.#space(at)
      if (bytes[at] !== COMMA) break
      if (bytes[++at]! <= SPACE) at = this.#space(at)
    }
    return bytes[at] === END_OF_ARRAY ? spans.close(array, at + 1) : -1
  }

  #string(start: number): number {
    const bytes = this.#bytes
    const limit = this.#limit
    let flags = STRING
    let at = plainEnd(bytes, start + 1, limit)
    while (at < limit && bytes[at] === BACKSLASH) {
      flags |= ESCAPED
      at = this.#escape(at)
      if (at === -1) return -1
      at = plainEnd(bytes, at, limit)
    }
    return at < limit && bytes[at] === QUOTE ? this.spans.add(flags, start, at + 1) : -1
  }

  #escape(start: number): number {
    const bytes = this.#bytes
    const letter = bytes[start + 1]!
    if (letter !== 0x75) return SHORT_ESCAPES.has(letter) ? start + 2 : -1
    if (!isUnit(bytes, start)) return -1
    const end = start + 6
    if (!isSurrogate(bytes, start)) return end
    // A first half, up to \uDBFF, and a second one right after it are one character.
    const isFirst = !isSecondHalf(bytes[start + 3]!)
    const isPair = isFirst && isUnit(bytes, end) && isSurrogate(bytes, end)
    if (isPair && isSecondHalf(bytes[end + 3]!)) {
      this.hasPair = true
      return end + 6
    }
    this.hasSurrogate = true
    return end
  }

  #number(start: number): number {
    const bytes = this.#bytes
    const limit = this.#limit
    const first = bytes[start] === MINUS ? start + 1 : start
    const hasZero = bytes[first] === ZERO
    let at = digitsEnd(bytes, first, limit)
    if (at === first || (hasZero && at > first + 1)) return -1
    let flags = hasZero && first > start ? NUMBER | ODD : NUMBER
    if (bytes[at] === POINT) {
      const point = at
      at = digitsEnd(bytes, point + 1, limit)
      if (at === point + 1) return -1
      flags = NUMBER | FRACTION
      if (hasZero || bytes[at - 1] === ZERO || at - start > EXACT_LENGTH) flags |= ODD
    }
    if (at - start > EXACT_LENGTH) flags |= LONG
    if (bytes[at] === 0x65 || bytes[at] === 0x45) {
      const sign = bytes[at + 1]
      const exponent = sign === MINUS || sign === 0x2b ? at + 2 : at + 1
      at = digitsEnd(bytes, exponent, limit)
      if (at === exponent) return -1
      // 1e-400 becomes 0, which looks like an integer.
      flags = NUMBER | FRACTION | ODD | LONG
    }
    if ((flags & LONG) !== 0) this.hasLongNumber = true
    return this.spans.add(flags, start, at)
  }

  #word(start: number, kind: number, word: Uint8Array): number {
    const bytes = this.#bytes
    const { length } = word
    for (let i = 0; i < length; i++) if (bytes[start + i] !== word[i]) return -1
    return this.spans.add(kind, start, start + length)
  }

  #space(start: number): number {
    return skipSpace(this.#bytes, start, this.#limit)
  }
}

/** The offset of the next quote, backslash or control character. */
function plainEnd(bytes: Uint8Array, start: number, limit: number): number {
  let at = start
  for (; at < limit; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) break
  }
  return at
}

const WORDS = {
  true: Buffer.from('true'),
  false: Buffer.from('false'),
  null: Buffer.from('null'),
}
const NO_NAMES: readonly string[] = []
/** Longer names are no names of fields. */
const REMEMBERED_LENGTH = 64
const SHORT_ESCAPES = new Set(Buffer.from('"\\/bfnrt'))

/** The first offset from `start` that is not JSON white space. */
export function skipSpace(bytes: Uint8Array, start: number, limit: number): number {
  let at = start
  while (at < limit && isSpace(bytes[at]!)) at++
  return at
}

const isSpace = (byte: number) =>
  byte <= 0x20 && (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)

/** How far the brackets of text go that is not JSON: the offset after them, -1 when they do not end; and how deep. */
export function measureBrackets(
  bytes: Uint8Array,
  start: number,
  limit: number,
): { end: number; depth: number } {
  let [open, depth] = [0, 0]
  for (let at = start; at < limit; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE)
      while (++at < limit && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 1 : 0
    else if (byte === 0x7b || byte === 0x5b) depth = Math.max(depth, ++open)
    else if ((byte === END_OF_OBJECT || byte === END_OF_ARRAY) && --open === 0)
      return { end: at + 1, depth }
  }
  return { end: -1, depth }
}
