// Where each value of an event begins and ends in its bytes. Rules read values from here, so a number keeps its digits,
// and a string is only made where somebody needs it.
//
// A value is known by its number, a node. Nodes have the order of the text: an object is followed by the name and the
// value of each member, an array by its elements. next() leads past everything inside a node. Node 0 is the event, where
// names of columns have no nodes.

import { isPrintedAlike } from './decimal-text.ts'

/** What a value is. Flags are added to it. */
export const NULL = 0
export const BOOLEAN = 1
export const NUMBER = 2
export const STRING = 3
export const ARRAY = 4
export const OBJECT = 5
const KIND = 7
export const KIND_NAMES = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const

export const ESCAPED = 8
/** A number with a point or an exponent. */
export const FRACTION = 8
/** A number that DuckDB may print in another way, such as 12.50, -0 and 1e3. */
export const ODD = 16
/** A number with more characters than a double holds exactly whatever they are, or with an exponent. */
export const LONG = 32

const SPACE = 0x20
const MINUS = 0x2d
const ZERO = 0x30

/** The cells of a node: kind and flags, the first byte, the byte after the last one, the next node. */
const CELLS = 4
const USUAL_NODES = 4096
/** The names of a larger object are compared as texts. */
const FEW_NAMES = 64

export class Spans {
  bytes: Buffer = Buffer.alloc(0)
  /** Nodes so far. */
  count = 0
  /** A rule has seen a field of a STRUCT that its type does not have. */
  hasUnknownField = false
  #cells = new Int32Array(CELLS * USUAL_NODES)

  /** Forgets all nodes. */
  begin(bytes: Buffer): void {
    this.bytes = bytes
    this.count = 0
    this.hasUnknownField = false
    // One large event must not keep its memory for good.
    if (this.#cells.length > CELLS * USUAL_NODES) this.#cells = new Int32Array(CELLS * USUAL_NODES)
  }

  /** Adds a node with nothing inside; returns its end. */
  add(flags: number, start: number, end: number): number {
    const cell = CELLS * this.count++
    if (cell === this.#cells.length) {
      const more = new Int32Array(2 * cell)
      more.set(this.#cells)
      this.#cells = more
    }
    const cells = this.#cells
    cells[cell] = flags
    cells[cell + 1] = start
    cells[cell + 2] = end
    cells[cell + 3] = this.count
    return end
  }

  /** All nodes since this one are inside; returns its end. */
  close(node: number, end: number): number {
    this.#cells[CELLS * node + 2] = end
    this.#cells[CELLS * node + 3] = this.count
    return end
  }

  /** Whether the node has all of these flags and none of the others in the mask. */
  #is(node: number, flags: number, mask: number): boolean {
    return (this.#cells[CELLS * node]! & mask) === flags
  }

  /** One of NULL, BOOLEAN, NUMBER and so on. */
  kind(node: number): number {
    return this.#cells[CELLS * node]! & KIND
  }

  isEscaped(string: number): boolean {
    return this.#is(string, ESCAPED, ESCAPED)
  }

  /** A number without point and exponent. */
  isInteger(node: number): boolean {
    return this.#is(node, NUMBER, KIND | FRACTION)
  }

  /** A number that DuckDB may print in another way. */
  isOdd(node: number): boolean {
    return this.#is(node, NUMBER | ODD, KIND | ODD)
  }

  isLong(node: number): boolean {
    return this.#is(node, NUMBER | LONG, KIND | LONG)
  }

  /** Whether a number with a fraction is inside, or -0, also as a text. */
  holdsFraction(node: number): boolean {
    const cells = this.#cells
    for (let at = CELLS * node, end = CELLS * this.next(node); at < end; at += CELLS) {
      const flags = cells[at]!
      if ((flags & KIND) === NUMBER && (flags & (FRACTION | ODD)) !== 0) return true
      const first = cells[at + 1]! + 1
      if (
        (flags & KIND) === STRING &&
        this.bytes[first] === MINUS &&
        this.bytes[first + 1] === ZERO
      )
        return true
    }
    return false
  }

  start(node: number): number {
    return this.#cells[CELLS * node + 1]!
  }

  end(node: number): number {
    return this.#cells[CELLS * node + 2]!
  }

  next(node: number): number {
    return this.#cells[CELLS * node + 3]!
  }

  /** The characters of a number or a word. */
  token(node: number): string {
    return this.bytes.toString('latin1', this.start(node), this.end(node))
  }

  /** The text that a string means, without its escapes. */
  text(node: number): string {
    const [start, end] = [this.start(node), this.end(node)]
    if (this.isEscaped(node)) return JSON.parse(this.bytes.toString('utf8', start, end)) as string
    return this.bytes.toString('utf8', start + 1, end - 1)
  }

  /** Whether DuckDB, which goes through doubles, prints a number inside in another way: 12.50, -0, 0.0000001. */
  isPrintedAnew(node: number): boolean {
    for (let inner = node; inner < this.next(node); inner++)
      if (this.isOdd(inner) && !isPrintedAlike(this.token(inner))) return true
    return false
  }

  /** The value as DuckDB prints it, but with its numbers as they were sent. */
  print(node: number): string {
    const kind = this.kind(node)
    if (this.#isPrinted(node)) return this.bytes.toString('utf8', this.start(node), this.end(node))
    if (kind === STRING) return JSON.stringify(this.text(node))
    const parts: string[] = []
    for (let inner = node + 1; inner < this.next(node); inner = this.next(inner)) {
      const name = kind === OBJECT ? `${JSON.stringify(this.text(inner++))}:` : ''
      parts.push(`${name}${this.print(inner)}`)
    }
    return kind === OBJECT ? `{${parts.join(',')}}` : `[${parts.join(',')}]`
  }

  /** Whether the text is how DuckDB prints it, but for numbers: without escapes, and without space between values. */
  #isPrinted(node: number): boolean {
    const cells = this.#cells
    let at = this.start(node)
    for (let inner = node; inner < this.next(node); inner++) {
      const cell = CELLS * inner
      const kind = cells[cell]! & KIND
      if (kind === STRING && this.isEscaped(inner)) return false
      // Of brackets, colons and commas there is at least one before each value but the first.
      const start = cells[cell + 1]!
      for (; at < start; at++) if (this.bytes[at]! <= SPACE) return false
      at = kind < ARRAY ? cells[cell + 2]! : start + 1
    }
    for (; at < this.end(node); at++) if (this.bytes[at]! <= SPACE) return false
    return true
  }

  names(object: number): readonly string[] {
    const names: string[] = []
    for (let name = object + 1; name < this.next(object); name = this.next(name + 1))
      names.push(this.text(name))
    return names
  }

  repeatsName(object: number): boolean {
    const end = this.next(object)
    let count = 0
    // One bit for the names of some marks: nearly all names have another one than those before, and need no comparison.
    let [low, high] = [0, 0]
    for (let name = object + 1; name < end; name = this.next(name + 1)) {
      if (this.isEscaped(name) || ++count > FEW_NAMES) {
        const names = this.names(object)
        return new Set(names).size < names.length
      }
      const mark = this.#markOf(name)
      const bit = 1 << (mark & 31)
      const isMarked = ((mark & 32) === 0 ? low : high) & bit
      if (isMarked !== 0)
        for (let other = object + 1; other < name; other = this.next(other + 1))
          if (this.#hasSameBytes(name, other)) return true
      if ((mark & 32) === 0) low |= bit
      else high |= bit
    }
    return false
  }

  /** Equal for equal names, and seldom for others. */
  #markOf(name: number): number {
    const { bytes } = this
    const [start, end] = [this.start(name), this.end(name)]
    const middle = bytes[(start + end) >> 1]!
    return (end - start) * 7 + bytes[start + 1]! * 3 + bytes[end - 2]! * 5 + middle
  }

  #hasSameBytes(node: number, other: number): boolean {
    const { bytes } = this
    const [start, end, otherStart] = [this.start(node), this.end(node), this.start(other)]
    if (end - start !== this.end(other) - otherStart) return false
    for (let i = end - start - 1; i >= 0; i--)
      if (bytes[start + i] !== bytes[otherStart + i]) return false
    return true
  }
}
