// Values of literals, exactly: numbers as digits, times in UTC. Nothing here rounds through a JavaScript number.

import { noSuchTime } from '../../core/no-such-time.ts'
import { invalidValue } from '../protocol/errors.ts'

/** `digits` divided by ten to the power of `scale`: -1.5 is { digits: -15n, scale: 1 }. */
interface ExactNumber {
  readonly digits: bigint
  readonly scale: number
}

/** No column has a value outside these powers of ten, so a literal beyond them compares like one at them. */
const EXPONENT_LIMIT = 5_000

/** null for NaN and the infinities. */
export function exactNumber(text: string): ExactNumber | null {
  if (/^\d{1,15}$/.test(text)) return { digits: BigInt(text), scale: 0 }
  const parts = /^([-+]?)(\d+)(?:\.(\d+))?(?:e([-+]?\d+))?$/i.exec(text)
  if (parts === null) return null
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return { digits: 0n, scale: 0 }
  const clamped = Math.max(-EXPONENT_LIMIT, Math.min(EXPONENT_LIMIT, Number(exponent)))
  const scale = fraction.length - clamped - (digits.length - significant.length)
  const value = BigInt(sign === '-' ? `-${significant}` : significant)
  return scale < 0 ? { digits: value * 10n ** BigInt(-scale), scale: 0 } : { digits: value, scale }
}

/** The number in units of ten to the minus `scale`, rounded towards minus infinity. */
export function floorToScale(
  number: ExactNumber,
  scale: number,
): { readonly units: bigint; readonly exact: boolean } {
  if (number.scale <= scale)
    return { units: number.digits * 10n ** BigInt(scale - number.scale), exact: true }
  const divisor = 10n ** BigInt(number.scale - scale)
  const quotient = number.digits / divisor
  return { units: number.digits < 0n ? quotient - 1n : quotient, exact: false }
}

export function printExact({ digits, scale }: ExactNumber): string {
  const sign = digits < 0n ? '-' : ''
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0')
  return scale === 0 ? sign + text : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

/** The words of OData and of JavaScript for the values that have no digits. */
export function toDouble(text: string): number {
  if (text === 'INF') return Infinity
  if (text === '-INF') return -Infinity
  return Number(text)
}

/** `2024-02-29`, or an error when the calendar has no such day or the year has not four digits. */
export function dateValue(text: string): string {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (parts === null || !isDay(Number(parts[1]), Number(parts[2]), Number(parts[3])))
    throw invalid(text, 'a date between 0001-01-01 and 9999-12-31')
  return text
}

/** `10:30:00.000001`, cut to microseconds. */
export function timeValue(text: string): string {
  const time = clock(text)
  if (time === null) throw invalid(text, 'a time of day')
  return time
}

/**
 * In UTC, as `2024-02-29 10:30:00.000001`. DuckDB counts days of 86,400 seconds: a leap second, 23:59:60, is the first
 * of the next minute.
 */
export function dateTimeValue(text: string): string {
  const [date = '', rest = ''] = text.split(/t/i)
  const parts = /^(.*?)(?:z|([-+ ])(\d\d):(\d\d))$/i.exec(rest)
  const isLeap = /^..:..:60/.test(rest)
  const time = parts === null ? null : clock(isLeap ? parts[1]!.replace(':60', ':59') : parts[1]!)
  const offsetMinutes = Number(parts?.[3] ?? 0) * 60 + Number(parts?.[4] ?? 0)
  if (time === null || offsetMinutes > 14 * 60 || Number(parts?.[4] ?? 0) > 59)
    throw invalid(text, 'a date and time')
  dateValue(date)
  if (offsetMinutes === 0 && !isLeap) return `${date} ${time}`
  const utcMs =
    Date.parse(`${date}T${time.slice(0, 8)}Z`) -
    offsetMinutes * (parts![2] === '-' ? -60_000 : 60_000) +
    (isLeap ? 1_000 : 0)
  const utc = new Date(utcMs)
  if (isLeap && utc.getTime() % DAY_MS !== 0) throw invalid(text, 'a date and time')
  if (utc.getUTCFullYear() < 1 || utc.getUTCFullYear() > 9999)
    throw invalid(text, 'a date and time between the years 1 and 9999 in UTC')
  return `${utc.toISOString().slice(0, 19).replace('T', ' ')}${time.slice(8)}`
}

const DAY_MS = 86_400_000

/** `hh:mm:ss` with up to six digits of the fraction; null for an invalid time. */
function clock(text: string): string | null {
  const parts = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,12}))?)?$/.exec(text)
  if (parts === null) return null
  const [, hour, minute, second = '00', fraction] = parts
  return `${hour}:${minute}:${second}${fraction === undefined ? '' : `.${fraction.slice(0, 6)}`}`
}

function isDay(year: number, month: number, day: number): boolean {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  return year >= 1 && days !== undefined && day >= 1 && day <= days
}

/** Microseconds that DuckDB's INTERVAL counts, some 292,000 years. */
const MAX_MICROSECONDS = 2n ** 63n - 1n

/** Whole microseconds of an xs:dayTimeDuration; null when the text is none, or a longer one than DuckDB has. */
export function durationMicroseconds(text: string): bigint | null {
  const parts =
    /^(-)?P(?=\d|T)(?:(\d{1,13})D)?(?:T(?=\d)(?:(\d{1,13})H)?(?:(\d{1,13})M)?(?:(\d{1,13})(?:\.(\d{1,12}))?S)?)?$/.exec(
      text,
    )
  if (parts === null) return null
  const [, sign, days = '0', hours = '0', minutes = '0', seconds = '0', fraction = ''] = parts
  const wholeSeconds =
    ((BigInt(days) * 24n + BigInt(hours)) * 60n + BigInt(minutes)) * 60n + BigInt(seconds)
  const microseconds = wholeSeconds * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'))
  if (microseconds > MAX_MICROSECONDS) return null
  return sign === '-' ? -microseconds : microseconds
}

/** Lower-case hexadecimal digits of base64url text; null when the text is none. */
export function binaryHex(text: string): string | null {
  const digits = text.replace(/={1,2}$/, '')
  if (!/^[\w-]*$/.test(digits) || digits.length % 4 === 1) return null
  return Buffer.from(digits, 'base64url').toString('hex')
}

function invalid(text: string, expected: string) {
  const none = noSuchTime(text)
  const why = none === null ? '' : `: ${none.why}`
  return invalidValue(`"${text.slice(0, 60)}" is not ${expected}${why}`)
}
