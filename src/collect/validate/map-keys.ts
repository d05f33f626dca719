// Keys of a MAP are text in JSON and values of a type in DuckDB: "1.5" and "1.50" are one DECIMAL.

import type { TypeTree } from '../../core/type-syntax.ts'
import { parseDecimal, plainText } from './decimal-text.ts'

/** A text that two keys share when they are equal in their type. For keys that pass validation. */
type KeyIdentity = (key: string) => string

/** null for a type whose values are equal only when their texts are. */
export function keyIdentity(type: TypeTree): KeyIdentity | null {
  return type.is === 'scalar' ? (IDENTITIES[type.name] ?? null) : null
}

/** The first key that equals one before it. */
export function equalKeys(identity: KeyIdentity, keys: readonly string[]): string | null {
  if (keys.length < 2) return null
  const known = new Set<string>()
  return keys.find((key) => known.size === known.add(identity(key)).size) ?? null
}

const ofDecimal: KeyIdentity = (key) => {
  const decimal = parseDecimal(key)
  return decimal === null ? key : plainText(decimal)
}

// With 0 added, -0 is 0.
const ofDouble: KeyIdentity = (key) => String(Number(key) + 0)
const ofFloat: KeyIdentity = (key) => String(Math.fround(Number(key)) + 0)

const INTEGERS = ['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT', 'BIGNUM']
const UNSIGNED = ['UTINYINT', 'USMALLINT', 'UINTEGER', 'UBIGINT', 'UHUGEINT']
const TIMES = ['TIME', 'TIME_NS', 'TIMESTAMP', 'TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP_NS']

const identities = (names: readonly string[], identity: KeyIdentity) =>
  Object.fromEntries(names.map((name) => [name, identity]))

const IDENTITIES: Readonly<Record<string, KeyIdentity>> = {
  ...identities([...INTEGERS, ...UNSIGNED, 'DECIMAL'], ofDecimal),
  ...identities([...TIMES, 'TIMESTAMP WITH TIME ZONE'], instantOf),
  'TIME WITH TIME ZONE': zonedClockOf,
  DOUBLE: ofDouble,
  FLOAT: ofFloat,
  UUID: (key) => key.toLowerCase().replaceAll('-', ''),
  INTERVAL: (key) => String(microsecondsOf(key)),
}

// What the texts of scalar-rules.ts mean: two that are equal in their type give the same result.

const CLOCK =
  /^(?:(\d{4}-\d\d-\d\d)[T ]?)?(?:(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/

/** For a TIME, or a TIMESTAMP with an offset or without. */
function instantOf(text: string): string {
  const [
    ,
    day = '1970-01-01',
    hour = '0',
    minute = '0',
    second = '0',
    fraction = '',
    offset = 'Z',
  ] = CLOCK.exec(text) ?? []
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second)
  const instant = Date.parse(day) / 1000 + seconds - offsetSeconds(offset)
  return `${instant}.${fraction.replace(/0+$/, '')}`
}

/** For a TIME WITH TIME ZONE: to DuckDB the same moment at another offset is another value. */
function zonedClockOf(text: string): string {
  const [offset = 'Z'] = /[+-]\d\d(?::\d\d)?$/.exec(text) ?? []
  return `${instantOf(text)} ${offsetSeconds(offset)}`
}

function offsetSeconds(offset: string): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60)
}

const DAY = 86_400_000_000n

/** DuckDB compares intervals like this: a month has 30 days. */
const UNITS: Readonly<Record<string, bigint>> = {
  year: 360n * DAY,
  month: 30n * DAY,
  week: 7n * DAY,
  day: DAY,
  hour: 3_600_000_000n,
  minute: 60_000_000n,
  second: 1_000_000n,
  millisecond: 1_000n,
  microsecond: 1n,
}

/** For an INTERVAL. */
function microsecondsOf(text: string): bigint {
  let sum = 0n
  for (const [, count, unit] of text.matchAll(/(-?\d+) ([a-z]+?)s?(?= |$)/g))
    sum += BigInt(count!) * UNITS[unit!]!
  const clock = /(-?)(\d\d):(\d\d):(\d\d)(?:\.(\d+))?$/.exec(text)
  if (clock === null) return sum
  const [, sign, hours, minutes, seconds, fraction = ''] = clock
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
  const micros = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0').slice(0, 6))
  return sign === '-' ? sum - micros : sum + micros
}
