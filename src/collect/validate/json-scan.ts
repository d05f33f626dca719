// One quick pass over the bytes of an event, in addition to JSON.parse: where the object ends, and what JSON.parse
// does not report. It does not check the syntax; JSON.parse does that for the bytes found here.

import { isPrintedAlike } from './decimal-text.ts'

export interface Scan {
  /** Offset after the closing brace; -1 when the object does not end. */
  end: number
  /** Deepest nesting of objects and arrays. */
  depth: number
  /** Names of members, over all objects: more than JSON.parse keeps when one is repeated. */
  names: number
  /** A number is longer than 15 characters or has an exponent, so a double may not hold it exactly. */
  longNumber: boolean
  /** DuckDB prints a number that is not long in another way than it was sent: 12.50, -0, 0.0000001. */
  respelled: boolean
  /** An escape for half of a surrogate pair. */
  surrogate: boolean
}

/** Characters of a number without an exponent that a double holds exactly, whatever digits they are. */
const EXACT_LENGTH = 15

const QUOTE = 0x22
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const BACKSLASH = 0x5c

/** Fills `scan` for the object or array that begins at `start`. Bytes after `limit` are not looked at. */
export function scanValue(bytes: Uint8Array, start: number, limit: number, scan: Scan): void {
  let depth = 0
  let deepest = 0
  let names = 0
  scan.end = -1
  scan.longNumber = scan.respelled = scan.surrogate = false
  let at = start
  while (at < limit) {
    const byte = bytes[at++]!
    if (byte === QUOTE) {
      at = skipString(bytes, at, limit, scan)
    } else if (byte === 0x3a) {
      names++
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > deepest) deepest = depth
    } else if (byte === 0x7d || byte === 0x5d) {
      if (--depth === 0) {
        scan.end = at
        break
      }
    } else if (byte === MINUS || (byte >= ZERO && byte <= 0x39)) {
      const first = at - 1
      let hasPoint = false
      while (at < limit && isNumberByte(bytes[at]!)) {
        // 1e-400 becomes 0, which looks like an integer.
        if ((bytes[at]! | 0x20) === 0x65) scan.longNumber = true
        if (bytes[at] === POINT) hasPoint = true
        at++
      }
      if (at - first > EXACT_LENGTH) scan.longNumber = true
      else if (isRespelled(bytes, first, at, hasPoint)) scan.respelled = true
    }
  }
  scan.depth = deepest
  scan.names = names
}

/** Of a number that is not long. Only one with a point and a 0 at an end, and -0, can be. */
function isRespelled(bytes: Uint8Array, first: number, end: number, hasPoint: boolean): boolean {
  const digit = bytes[first] === MINUS ? first + 1 : first
  if (!hasPoint) return digit > first && bytes[digit] === ZERO
  if (bytes[digit] !== ZERO && bytes[end - 1] !== ZERO) return false
  return !isPrintedAlike(String.fromCharCode(...bytes.subarray(first, end)))
}

/** The offset after the closing quote. */
function skipString(bytes: Uint8Array, start: number, limit: number, scan: Scan): number {
  let at = start
  while (at < limit) {
    const byte = bytes[at++]!
    if (byte === QUOTE) return at
    if (byte !== BACKSLASH) continue
    // \uD800 to \uDFFF
    if (bytes[at] === 0x75 && (bytes[at + 1]! | 0x20) === 0x64 && bytes[at + 2]! >= 0x38)
      scan.surrogate = true
    at++
  }
  return limit
}

function isNumberByte(byte: number): boolean {
  // + - . / and the digits, e and E; JSON.parse decides what a number is.
  return byte >= 0x2b && byte <= 0x39 ? byte !== 0x2c : (byte | 0x20) === 0x65
}

/** The first offset from `start` that is not JSON white space. */
export function skipSpace(bytes: Uint8Array, start: number, limit: number): number {
  let at = start
  while (at < limit && isSpace(bytes[at]!)) at++
  return at
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
