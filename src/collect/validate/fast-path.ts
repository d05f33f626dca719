// The fast path: one pass over the bytes of an event, without creating any value. It accepts what nearly all events
// are: an object of columns of the table, none twice, each a text without escapes, a short number, true, false or null.
// Everything else, valid or not, takes a slower path (validate-event.ts); nothing is ever rejected here.

import { isPrintedAlike } from './decimal-text.ts'
import { skipSpace } from './json-scan.ts'
import { digitsEnd, isDigit } from './plain-bytes.ts'
import type { Rule } from './rule.ts'

interface QuickColumn {
  readonly name: Uint8Array
  readonly required: boolean
  readonly rule: Rule
  /** Turn in which the column came last. */
  turn: number
}

export interface FastPath {
  readonly columns: readonly QuickColumn[]
  readonly indexes: ReadonlyMap<string, number>
  readonly requiredCount: number
  /** Some column keeps the spelling of numbers. */
  readonly spelled: boolean
  /** Counts the events. */
  turn: number
}

/** null for a table with a column whose name needs escapes in JSON. */
export function fastPathFor(
  columns: readonly { readonly name: string; readonly required: boolean; readonly rule: Rule }[],
): FastPath | null {
  if (columns.some(({ name }) => JSON.stringify(name) !== `"${name}"`)) return null
  const names = columns.map(({ name }) => Buffer.from(name))
  return {
    columns: columns.map(({ required, rule }, i) => ({ name: names[i]!, required, rule, turn: 0 })),
    indexes: new Map(names.map((name, index) => [name.toString('latin1'), index])),
    requiredCount: columns.filter(({ required }) => required).length,
    spelled: columns.some(({ rule }) => rule.spelled === true),
    turn: 0,
  }
}

const QUOTE = 0x22
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30

/** Digits, sign and point of a number that a double holds exactly enough for every rule. */
const SHORT_NUMBER = 15

/**
 * The offset after the event that begins at `start` of a body that is UTF-8, when the event is valid as is; else -1.
 */
export function quickEnd(validator: FastPath, bytes: Buffer, start: number, limit: number): number {
  const { columns } = validator
  const turn = ++validator.turn
  let missing = validator.requiredCount
  let expected = 0
  let at = start
  do {
    at = skipSpace(bytes, at + 1, limit)
    if (bytes[at] !== QUOTE) return -1
    // Senders write the members in the order of the columns, or at least always in the same one.
    let index = expected
    if (index >= columns.length || !hasName(bytes, at + 1, columns[index]!.name))
      index = findColumn(validator, bytes, at + 1, limit)
    if (index === -1) return -1
    expected = index + 1
    const column = columns[index]!
    if (column.turn === turn) return -1
    column.turn = turn
    if (column.required) missing--
    at = skipSpace(bytes, at + column.name.length + 2, limit)
    if (bytes[at] !== 0x3a) return -1
    at = valueEnd(validator, column, bytes, skipSpace(bytes, at + 1, limit), limit)
    if (at === -1) return -1
    at = skipSpace(bytes, at, limit)
  } while (bytes[at] === 0x2c)
  return bytes[at] === 0x7d && missing === 0 && at < limit ? at + 1 : -1
}

function hasName(bytes: Uint8Array, at: number, name: Uint8Array): boolean {
  const { length } = name
  for (let i = 0; i < length; i++) if (bytes[at + i] !== name[i]) return false
  return bytes[at + length] === QUOTE
}

function findColumn(validator: FastPath, bytes: Buffer, start: number, limit: number): number {
  let end = start
  while (end < limit && bytes[end] !== QUOTE) end++
  return validator.indexes.get(bytes.toString('latin1', start, end)) ?? -1
}

/** The offset after a value that the column accepts; -1 when only a slower path can tell. */
function valueEnd(
  { spelled }: FastPath,
  column: QuickColumn,
  bytes: Buffer,
  start: number,
  limit: number,
): number {
  const first = bytes[start]!
  if (first === QUOTE) return textEnd(column.rule, bytes, start + 1, limit)
  if (first === MINUS || isDigit(first)) return numberEnd(column.rule, spelled, bytes, start, limit)
  if (isWord(bytes, start, NULL)) return column.required ? -1 : start + NULL.length
  if (isWord(bytes, start, TRUE) && column.rule.accepts(true)) return start + TRUE.length
  if (isWord(bytes, start, FALSE) && column.rule.accepts(false)) return start + FALSE.length
  return -1
}

function textEnd(rule: Rule, bytes: Buffer, start: number, limit: number): number {
  let at = start
  let allBits = 0
  for (; at < limit; at++) {
    const byte = bytes[at]!
    if (byte === QUOTE) break
    if (byte === 0x5c || byte < 0x20) return -1
    allBits |= byte
  }
  if (at >= limit) return -1
  if (rule.anyText === true) return at + 1
  if (allBits >= 0x80) return -1
  if (rule.acceptsBytes?.(bytes, start, at) === true) return at + 1
  return rule.accepts(bytes.toString('latin1', start, at)) ? at + 1 : -1
}

function numberEnd(
  rule: Rule,
  spelled: boolean,
  bytes: Buffer,
  start: number,
  limit: number,
): number {
  const isNegative = bytes[start] === MINUS
  const firstDigit = isNegative ? start + 1 : start
  let at = firstDigit
  let value = 0
  for (; at < limit && isDigit(bytes[at]!); at++) value = value * 10 + bytes[at]! - ZERO
  const digits = at - firstDigit
  if (digits === 0 || (digits > 1 && bytes[firstDigit] === ZERO)) return -1
  const hasFraction = bytes[at] === POINT
  if (hasFraction) {
    const point = at++
    at = digitsEnd(bytes, at, limit)
    if (at === point + 1) return -1
  }
  // The rest of a number with an exponent does not end a value either.
  if (at - start > SHORT_NUMBER) return -1
  if (hasFraction) value = Number(bytes.toString('latin1', start, at))
  else if (isNegative) value = -value
  if (spelled && !isPrintedAlike(bytes.toString('latin1', start, at))) return -1
  return rule.accepts(value) ? at : -1
}

const NULL = Buffer.from('null')
const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')

function isWord(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false
  return true
}
