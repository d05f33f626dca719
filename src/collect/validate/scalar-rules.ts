// What a column of each scalar type takes; see rule.ts.

import { fractionDigits, integerDigits, isNumber, parseDecimal, plainText } from './decimal-text.ts'
import type { JsonNode } from './json-tree.ts'
import { isPlainDecimal, isPlainInstant } from './plain-bytes.ts'
import type { Edit, Rule } from './rule.ts'
import {
  isDate,
  isInterval,
  isTime,
  isTimestamp,
  isTimestampNs,
  isTimestampWithZone,
  isTimeWithZone,
  isUuid,
  secondFractionDigits,
} from './time-text.ts'

/** Throws Error for a type that has no rule, so that a new type of DuckDB is noticed. */
export function scalarRule(name: string, parameters: readonly number[]): Rule {
  const rule =
    name === 'DECIMAL' ? decimalRule(parameters[0] ?? 18, parameters[1] ?? 3) : RULES[name]
  if (rule === undefined) throw new Error(`no validation rule for the column type ${name}`)
  return rule
}

const ZONED = 'text such as "2024-05-01T12:00:00Z" or "2024-05-01 14:00:00+02:00"'
const LOCAL = 'text such as "2024-05-01T12:00:00", without an offset other than Z'
const CLOCK = 'text such as "12:00:00" or "12:00:00.5"'

const RULES: Readonly<Record<string, Rule>> = {
  BOOLEAN: {
    exact: false,
    accepts: (value) => typeof value === 'boolean',
    check: (node) =>
      node.is === 'boolean' || textOf(node) === 'true' || textOf(node) === 'false'
        ? null
        : 'must be true or false',
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
  FLOAT: floatRule(3.4028234e38),
  DOUBLE: floatRule(Number.MAX_VALUE),
  VARCHAR: varcharRule(),
  JSON: anyRule(),
  BLOB: textRule(() => true, 'text; its UTF-8 bytes are stored'),
  BIT: textRule((text) => /^[01]+$/.test(text), 'text of the digits 0 and 1'),
  UUID: textRule(isUuid, 'text such as "550e8400-e29b-41d4-a716-446655440000"'),
  DATE: textRule(isDate, 'text such as "2024-05-01"'),
  TIME: timeRule(isTime, 6, CLOCK),
  TIME_NS: timeRule(isTime, 9, CLOCK),
  'TIME WITH TIME ZONE': timeRule(isTimeWithZone, 6, 'text such as "12:00:00+02:00"'),
  TIMESTAMP: instantRule(isTimestamp, 6, LOCAL),
  TIMESTAMP_S: instantRule(isTimestamp, 0, LOCAL),
  TIMESTAMP_MS: instantRule(isTimestamp, 3, LOCAL),
  TIMESTAMP_NS: timeRule(isTimestampNs, 9, `${LOCAL}, from 1678 to 2261`),
  'TIMESTAMP WITH TIME ZONE': instantRule(isTimestampWithZone, 6, ZONED),
  INTERVAL: timeRule(isInterval, 6, 'text such as "1 day 02:30:00" or "3 months"'),
  // Well-known text; the flush checks whether it is valid.
  GEOMETRY: textRule(() => true, 'well-known text such as "POINT (1 2)"'),
}

/** A number like 1e999999999 is never written out. */
const MAX_DIGITS = 1001

const SHORT_INTEGER = /^-?(?:0|[1-9]\d{0,14})$/

function integerRule(min: bigint, max: bigint): Rule {
  const quickMin = Math.max(Number(min), -1e15)
  const quickMax = Math.min(Number(max), 1e15)
  const expected = `must be an integer from ${min} to ${max}`
  const inQuickRange = (value: number) => value >= quickMin && value <= quickMax
  return {
    exact: true,
    accepts: (value) =>
      typeof value === 'number'
        ? Number.isInteger(value) && inQuickRange(value)
        : typeof value === 'string' && SHORT_INTEGER.test(value) && inQuickRange(Number(value)),
    check: (node, { edits }) => {
      const source = numberText(node)
      const decimal = source === null ? null : parseDecimal(source)
      if (source === null || decimal === null) return expected
      if (fractionDigits(decimal) > 0) return `${expected}, without a fraction`
      if (integerDigits(decimal) > MAX_DIGITS) return expected
      const text = plainText(decimal)
      const value = BigInt(text)
      if (value < min || value > max) return expected
      // With a point or an exponent DuckDB would go through a double; it reads no leading zeros.
      if (source !== text) replace(node, text, edits)
      return null
    },
  }
}

function decimalRule(width: number, scale: number): Rule {
  const step = 10 ** scale
  // Below this DuckDB's way through a double, times 10^scale, is exact.
  const quickMax = Math.min(10 ** (width - scale), 1e15 / step)
  const whole = width === scale ? '0' : String.raw`(?:0|[1-9]\d{0,${width - scale - 1}})`
  const plain = new RegExp(`^-?${whole}${scale === 0 ? '' : String.raw`(?:\.\d{1,${scale}})?`}$`)
  const expected = `must be a number with at most ${width - scale} digits before and ${scale} after the decimal point`
  return {
    exact: true,
    accepts: (value) =>
      typeof value === 'number'
        ? Math.abs(value) < quickMax && Math.round(value * step) / step === value
        : typeof value === 'string' && plain.test(value),
    acceptsBytes: (bytes, start, end) => isPlainDecimal(bytes, start, end, width - scale, scale),
    check: (node, { edits }) => {
      const source = numberText(node)
      const decimal = source === null ? null : parseDecimal(source)
      if (source === null || decimal === null) return expected
      if (integerDigits(decimal) > width - scale || fractionDigits(decimal) > scale) return expected
      // As a number it goes through a double once it has a point or an exponent; as text it never does.
      const isExact = plain.test(source) && (node.is === 'string' || !source.includes('.'))
      if (!isExact) replace(node, plainText(decimal), edits)
      return null
    },
  }
}

/** Doubles are the nearest ones, as everywhere; only what is beyond their range is rejected. */
function floatRule(max: number): Rule {
  const expected = `must be a number of at most ${max} (or "NaN", "Infinity", "-Infinity")`
  return {
    exact: false,
    accepts: (value) =>
      typeof value === 'number' && Math.abs(value) <= max && !Object.is(value, -0),
    check: (node, { edits }) => {
      if (node.is === 'string' && /^(?:NaN|-?Infinity)$/.test(node.value)) return null
      const text = numberText(node)
      if (text === null || !isNumber(text) || Math.abs(Number(text)) > max) return expected
      // DuckDB reads no leading zeros, and -0 as an integer, which has no sign.
      if (node.is === 'number' && text === '-0') replace(node, '-0.0', edits)
      else if (/^-?0\d/.test(text)) replace(node, text.replace(/^(-?)0+(?=\d)/, '$1'), edits)
      return null
    },
  }
}

/** A number stays as it was written: 1.50 stays 1.50. */
function varcharRule(): Rule {
  return {
    exact: false,
    anyText: true,
    accepts: (value) => typeof value === 'string',
    check: (node, { edits }) => {
      if (node.is === 'number') replace(node, node.token, edits)
      else if (node.is !== 'string' && node.is !== 'boolean')
        return 'must be text, a number or a boolean; a JSON column takes arrays and objects'
      return null
    },
  }
}

function anyRule(): Rule {
  return {
    exact: true,
    anyText: true,
    spelled: true,
    accepts: () => true,
    check: (node, { json }) => {
      json.push(node)
      return null
    },
  }
}

function textRule(isValid: (text: string) => boolean, expected: string): Rule {
  return {
    exact: false,
    accepts: (value) => typeof value === 'string' && isValid(value),
    check: (node) => (node.is === 'string' && isValid(node.value) ? null : `must be ${expected}`),
  }
}

/** DuckDB cuts or rounds the digits of a second that its type does not hold; zeros there are no loss. */
function timeRule(isValid: (text: string) => boolean, digits: number, expected: string): Rule {
  const kept = digits === 0 ? 'without a fraction' : `with at most ${digits} digits of the fraction`
  return textRule(
    (text) => isValid(text) && secondFractionDigits(text) <= digits,
    `${expected}, ${kept}`,
  )
}

/** For types that read an instant in UTC of any year from 100 on. */
function instantRule(isValid: (text: string) => boolean, digits: number, expected: string): Rule {
  return {
    ...timeRule(isValid, digits, expected),
    acceptsBytes: (bytes, start, end) => isPlainInstant(bytes, start, end, digits),
  }
}

function textOf(node: JsonNode): string | null {
  return node.is === 'string' ? node.value : null
}

/** Exact numbers may come as text: JavaScript has no other way to send 2^53 + 1. */
function numberText(node: JsonNode): string | null {
  return node.is === 'number' ? node.token : textOf(node)
}

/** Stores the value as a JSON string, which DuckDB casts by its digits. */
function replace(node: JsonNode, text: string, edits: Edit[]): void {
  edits.push({ start: node.start, end: node.end, text: `"${text}"` })
}
