// What a column of each scalar type takes; see rule.ts.

import { noSuchTime } from '../../core/no-such-time.ts'
import { fractionDigits, integerDigits, isNumber, parseDecimal, plainText } from './decimal-text.ts'
import { isPlainDay, isPlainDecimal, isPlainInstant, shortInteger } from './plain-bytes.ts'
import { type Changes, NOT_AS_SENT, type Rule } from './rule.ts'
import { BOOLEAN, NUMBER, type Spans, STRING } from './spans.ts'

// Texts of dates and times that pass validation: the part of ISO 8601 that DuckDB reads without losing any
// meaning. DuckDB also takes a date-time for a DATE and an offset for a TIMESTAMP, and drops the rest silently.

const DATE = String.raw`\d{4}-\d\d-\d\d`
const TIME = String.raw`(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?`
const FULL_TIME = String.raw`(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?`
const OFFSET = String.raw`[+-](?:0\d|1[0-5])(?::?[0-5]\d)?`
const ZERO_OFFSET = String.raw`[+-]00(?::?00)?`

const date = new RegExp(`^${DATE}$`)
const time = new RegExp(`^${TIME}$`)
const timeWithZone = new RegExp(String.raw`^${FULL_TIME}(?:[+-](?:0\d|1[0-5])(?::[0-5]\d)?)?$`)
const timestamp = new RegExp(`^${DATE}(?:[T ](?:${TIME}|${FULL_TIME}(?:Z|${ZERO_OFFSET})))?$`)
const timestampWithZone = new RegExp(`^${DATE}(?:[T ](?:${TIME}|${FULL_TIME}(?:Z|${OFFSET})))?$`)

const isDate = (text: string) => date.test(text) && beginsWithDay(text)
const isTime = (text: string) => time.test(text)
const isTimeWithZone = (text: string) => timeWithZone.test(text)
export const isTimestamp = (text: string) => timestamp.test(text) && beginsWithDay(text)
const isTimestampWithZone = (text: string) => timestampWithZone.test(text) && beginsWithDay(text)

/** Digits of the fraction of a second up to the last one that is not 0. The texts of this file have no other point. */
export function secondFractionDigits(text: string): number {
  const point = text.indexOf('.')
  if (point === -1) return 0
  let end = point + 1
  for (let at = end; isDigit(text.charCodeAt(at)); at++) if (text[at] !== '0') end = at + 1
  return end - point - 1
}

const isDigit = (code: number) => code >= 0x30 && code <= 0x39

/** TIMESTAMP_NS counts nanoseconds in 64 bits: full years from 1678 to 2261. */
function isTimestampNs(text: string): boolean {
  return isTimestamp(text) && text >= '1678' && text < '2262'
}

/** Whether the calendar has the day of a text that begins with ten characters of the form 2024-02-29. */
function beginsWithDay(text: string): boolean {
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  if (month < 1 || month > 12 || day < 1 || text.startsWith('0000')) return false
  if (day <= 28) return true
  if (month === 2) return day === 29 && isLeapYear(Number(text.slice(0, 4)))
  return day <= ([4, 6, 9, 11].includes(month) ? 30 : 31)
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 0x30) * 10 + text.charCodeAt(at + 1) - 0x30
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

const UNIT = '(?:year|month|week|day|hour|minute|second|millisecond|microsecond)s?'
// Eight parts of seven digits stay inside DuckDB's months, days and microseconds, in all units.
const interval = new RegExp(
  String.raw`^(?:-?\d{1,7} ${UNIT}(?: -?\d{1,7} ${UNIT}){0,7}(?: -?${FULL_TIME})?|-?${FULL_TIME})$`,
)

const isInterval = (text: string) => interval.test(text)

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i

const isUuid = (text: string) => uuid.test(text)

/** Throws Error for a type that has no rule, so that a new type of DuckDB is noticed. */
export function scalarRule(name: string, parameters: readonly number[]): Rule {
  const rule =
    name === 'DECIMAL' ? decimalRule(parameters[0] ?? 18, parameters[1] ?? 3) : RULES[name]
  if (rule === undefined) throw new Error(`no validation rule for the column type ${name}`)
  return rule
}

/** A number stays as it was written: 1.50 stays 1.50. */
const varcharRule: Rule = (spans, node, changes) => {
  const kind = spans.kind(node)
  if (kind === STRING || kind === BOOLEAN) return null
  if (kind === NUMBER && isPrintedAsSent(spans, node)) return null
  if (changes === null) return NOT_AS_SENT
  if (kind === NUMBER) quote(spans, node, changes)
  else return 'must be text, a number or a boolean; a JSON column takes arrays and objects'
  return null
}

/** Whether the number is an integer that DuckDB prints with the digits that were sent. */
const isPrintedAsSent = (spans: Spans, node: number): boolean =>
  spans.isInteger(node) &&
  !spans.isOdd(node) &&
  spans.end(node) - spans.start(node) <= PRINTED_DIGITS

/** Also with a sign less than 2^63. */
const PRINTED_DIGITS = 18

const jsonRule: Rule = (spans, node, changes) => {
  if (changes === null) return spans.isPrintedAnew(node) ? NOT_AS_SENT : null
  changes.json.push(node)
  return null
}

const ZONED = 'text such as "2024-05-01T12:00:00Z" or "2024-05-01 14:00:00+02:00"'
const LOCAL = 'text such as "2024-05-01T12:00:00", without an offset other than Z'
const CLOCK = 'text such as "12:00:00" or "12:00:00.5"'

const RULES: Readonly<Record<string, Rule>> = {
  BOOLEAN: (spans, node, changes) => {
    if (spans.kind(node) === BOOLEAN) return null
    if (changes === null) return NOT_AS_SENT
    const text = textOf(spans, node)
    return text === 'true' || text === 'false' ? null : 'must be true or false'
  },
  TINYINT: integerRule(-(2n ** 7n), 2n ** 7n - 1n),
  SMALLINT: integerRule(-(2n ** 15n), 2n ** 15n - 1n),
  INTEGER: integerRule(-(2n ** 31n), 2n ** 31n - 1n),
  BIGINT: integerRule(-(2n ** 63n), 2n ** 63n - 1n),
  HUGEINT: integerRule(-(2n ** 127n), 2n ** 127n - 1n),
  UTINYINT: integerRule(0n, 2n ** 8n - 1n),
  USMALLINT: integerRule(0n, 2n ** 16n - 1n),
  UINTEGER: integerRule(0n, 2n ** 32n - 1n),
  UBIGINT: integerRule(0n, 2n ** 64n - 1n),
  UHUGEINT: integerRule(0n, 2n ** 128n - 1n),
  // Bounded only so that a body full of digits does not take long.
  BIGNUM: integerRule(-(10n ** 1000n), 10n ** 1000n),
  FLOAT: floatRule(3.4028235e38, Math.fround),
  DOUBLE: floatRule(Number.MAX_VALUE, Number),
  VARCHAR: varcharRule,
  JSON: jsonRule,
  BLOB: textRule(() => true, 'text; its UTF-8 bytes are stored'),
  BIT: textRule((text) => /^[01]+$/.test(text), 'text of the digits 0 and 1'),
  UUID: textRule(isUuid, 'text such as "550e8400-e29b-41d4-a716-446655440000"'),
  DATE: quickTextRule(isPlainDay, calendarRule(textRule(isDate, 'text such as "2024-05-01"'))),
  TIME: timeRule(isTime, 6, CLOCK),
  TIME_NS: timeRule(isTime, 9, CLOCK),
  'TIME WITH TIME ZONE': timeRule(isTimeWithZone, 6, 'text such as "12:00:00+02:00"'),
  TIMESTAMP: instantRule(isTimestamp, 6, LOCAL),
  TIMESTAMP_S: instantRule(isTimestamp, 0, LOCAL),
  TIMESTAMP_MS: instantRule(isTimestamp, 3, LOCAL),
  TIMESTAMP_NS: timeRule(isTimestampNs, 9, `${LOCAL}, from 1678 to 2261`),
  'TIMESTAMP WITH TIME ZONE': instantRule(isTimestampWithZone, 6, ZONED),
  INTERVAL: lengthRule(isInterval, 6, 'text such as "1 day 02:30:00" or "3 months"'),
  // Well-known text; the flush checks whether it is valid.
  GEOMETRY: textRule(() => true, 'well-known text such as "POINT (1 2)"'),
}

/** A double holds every number of so many digits. */
const EXACT_DIGITS = 15

/** Numbers of the type HUGEINT have fewer. */
const MAX_QUICK_DIGITS = 40

/** A number like 1e999999999 is never written out. */
const MAX_DIGITS = 1001

function integerRule(min: bigint, max: bigint): Rule {
  const quickMin = Math.max(Number(min), -1e15)
  const quickMax = Math.min(Number(max), 1e15)
  const takesShort = quickMin === -1e15 && quickMax === 1e15
  const takesLonger = min <= -(10n ** 18n) && max >= 10n ** 18n
  const expected = `must be an integer from ${min} to ${max}`
  return (spans, node, changes) => {
    if (changes === null) {
      const isLong = spans.isLong(node)
      if (takesShort && !isLong && spans.isInteger(node)) return null
      if (isLong) {
        const length = spans.end(node) - spans.start(node)
        if (!spans.isInteger(node) || length > MAX_QUICK_DIGITS) return NOT_AS_SENT
        if (takesLonger && length <= 18) return null
        const value = BigInt(spans.token(node))
        return value >= min && value <= max ? null : NOT_AS_SENT
      }
      const quote = spans.kind(node) === STRING ? 1 : 0
      let value = shortInteger(spans.bytes, spans.start(node) + quote, spans.end(node) - quote)
      if (Number.isNaN(value)) value = shortNumber(spans, node)
      return value >= quickMin && value <= quickMax && Number.isInteger(value) ? null : NOT_AS_SENT
    }
    const source = numberText(spans, node)
    const decimal = source === null ? null : parseDecimal(source)
    if (source === null || decimal === null) return expected
    if (fractionDigits(decimal) > 0) return `${expected}, without a fraction`
    if (integerDigits(decimal) > MAX_DIGITS) return expected
    const text = plainText(decimal)
    const value = BigInt(text)
    if (value < min || value > max) return expected
    // With a point or an exponent DuckDB would go through a double; it reads no leading zeros.
    if (source !== text) replace(spans, node, text, changes)
    return null
  }
}

function decimalRule(width: number, scale: number): Rule {
  const step = 10 ** scale
  const whole = width - scale
  // With fewer digits DuckDB's way through a double, times 10^scale, is exact.
  const quickWhole = Math.min(whole, EXACT_DIGITS - scale)
  const quickScale = scale > EXACT_DIGITS ? 0 : scale
  const quickMax = Math.min(10 ** whole, 1e15 / step)
  const expected = `must be a number with at most ${whole} digits before and ${scale} after the decimal point`
  return (spans, node, changes) => {
    const isText = spans.kind(node) === STRING
    if (changes === null) {
      const [start, end] = [spans.start(node), spans.end(node)]
      const isPlain = isText
        ? isPlainDecimal(spans.bytes, start + 1, end - 1, whole, scale)
        : isPlainDecimal(spans.bytes, start, end, quickWhole, quickScale)
      if (isPlain) return null
      if (spans.isLong(node)) {
        const digits = spans.end(node) - spans.start(node)
        return spans.isInteger(node) && digits <= whole ? null : NOT_AS_SENT
      }
      const value = shortNumber(spans, node)
      const isExact = Math.abs(value) < quickMax && Math.round(value * step) / step === value
      return isExact ? null : NOT_AS_SENT
    }
    if (!isText && isPlainFraction(spans, node, whole, scale)) {
      quote(spans, node, changes)
      return null
    }
    const source = numberText(spans, node)
    const decimal = source === null ? null : parseDecimal(source)
    if (source === null || decimal === null) return expected
    if (integerDigits(decimal) > whole || fractionDigits(decimal) > scale) return expected
    // A number goes through a double once it has a point or an exponent; a text never does, but has no leading zeros.
    const isExact = isText
      ? isPlainDecimal(Buffer.from(source), 0, source.length, whole, scale)
      : spans.isInteger(node)
    if (!isExact) replace(spans, node, plainText(decimal), changes)
    return null
  }
}

/**
 * Numbers are the nearest ones of the type, as everywhere; only what is beyond their range is rejected. The largest FLOAT
 * is a little less than the digits that are written of it.
 */
function floatRule(max: number, nearest: (value: number) => number): Rule {
  const isInRange = (value: number) => Number.isFinite(nearest(value))
  const expected = `must be a number of at most ${max} (or "NaN", "Infinity", "-Infinity")`
  return (spans, node, changes) => {
    const isNumberNode = spans.kind(node) === NUMBER
    if (changes === null) {
      if (!isNumberNode) return NOT_AS_SENT
      if (!spans.isOdd(node) && !spans.isLong(node)) return null
      const value = shortNumber(spans, node)
      return isInRange(value) && !Object.is(value, -0) ? null : NOT_AS_SENT
    }
    const text = numberText(spans, node)
    if (!isNumberNode && text !== null && /^(?:NaN|-?Infinity)$/.test(text)) return null
    if (text === null || !isNumber(text) || !isInRange(Number(text))) return expected
    // DuckDB reads no leading zeros, and -0 as an integer, which has no sign.
    if (isNumberNode && text === '-0') replace(spans, node, '-0.0', changes)
    else if (/^-?0\d/.test(text)) replace(spans, node, text.replace(/^(-?)0+(?=\d)/, '$1'), changes)
    return null
  }
}

function textRule(isValid: (text: string) => boolean, expected: string): Rule {
  return (spans, node) => {
    const text = textOf(spans, node)
    return text !== null && isValid(text) ? null : `must be ${expected}`
  }
}

/** The text may have the very form of the examples, and be none of the calendar or of the clock. */
function calendarRule(rule: Rule): Rule {
  return (spans, node, changes) => {
    const problem = rule(spans, node, changes)
    if (problem === null || changes === null) return problem
    const none = noSuchTime(textOf(spans, node) ?? '')
    return none === null ? problem : `must be a time that exists, not "${none.seen}": ${none.why}`
  }
}

/** DuckDB cuts or rounds the digits of a second that its type does not hold; zeros there are no loss. */
function lengthRule(isValid: (text: string) => boolean, digits: number, expected: string): Rule {
  const kept = digits === 0 ? 'without a fraction' : `with at most ${digits} digits of the fraction`
  return textRule(
    (text) => isValid(text) && secondFractionDigits(text) <= digits,
    `${expected}, ${kept}`,
  )
}

function timeRule(isValid: (text: string) => boolean, digits: number, expected: string): Rule {
  return calendarRule(lengthRule(isValid, digits, expected))
}

/** For types that read an instant in UTC of any year from 100 on. */
function instantRule(isValid: (text: string) => boolean, digits: number, expected: string): Rule {
  return quickTextRule(
    (bytes, start, end) => isPlainInstant(bytes, start, end, digits),
    timeRule(isValid, digits, expected),
  )
}

/** `isPlain` is a quick yes for the bytes of a text. */
function quickTextRule(
  isPlain: (bytes: Uint8Array, start: number, end: number) => boolean,
  rule: Rule,
): Rule {
  return (spans, node, changes) =>
    spans.kind(node) === STRING && isPlain(spans.bytes, spans.start(node) + 1, spans.end(node) - 1)
      ? null
      : rule(spans, node, changes)
}

const textOf = (spans: Spans, node: number): string | null =>
  spans.kind(node) === STRING ? spans.text(node) : null

/** Exact numbers may come as text: JavaScript has no other way to send 2^53 + 1. */
const numberText = (spans: Spans, node: number): string | null =>
  spans.kind(node) === NUMBER ? spans.token(node) : textOf(spans, node)

/** The double that is nearest to a number; NaN for other nodes. */
const shortNumber = (spans: Spans, node: number): number =>
  spans.kind(node) === NUMBER ? Number(spans.token(node)) : NaN

/** Whether a number has a fraction and is written as plainText() would, with at most so many digits. */
const isPlainFraction = (spans: Spans, node: number, whole: number, scale: number): boolean =>
  !spans.isInteger(node) &&
  spans.bytes[spans.end(node) - 1] !== 0x30 &&
  isPlainDecimal(spans.bytes, spans.start(node), spans.end(node), whole, scale)

/** Stores the token as a JSON string. */
function quote(spans: Spans, node: number, { edits }: Changes): void {
  edits.push({ start: spans.start(node), end: spans.end(node), text: null })
}

/** Stores the value as a JSON string, which DuckDB casts by its digits. */
function replace(spans: Spans, node: number, text: string, { edits }: Changes): void {
  edits.push({ start: spans.start(node), end: spans.end(node), text: `"${text}"` })
}
