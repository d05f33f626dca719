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

export const isDate = (text: string) => date.test(text) && beginsWithDay(text)
export const isTime = (text: string) => time.test(text)
export const isTimeWithZone = (text: string) => timeWithZone.test(text)
export const isTimestamp = (text: string) => timestamp.test(text) && beginsWithDay(text)
export const isTimestampWithZone = (text: string) =>
  timestampWithZone.test(text) && beginsWithDay(text)

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
export function isTimestampNs(text: string): boolean {
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
// Eight parts of seven digits stay inside DuckDB's months, days and microseconds, whatever their units.
const interval = new RegExp(
  String.raw`^(?:-?\d{1,7} ${UNIT}(?: -?\d{1,7} ${UNIT}){0,7}(?: -?${FULL_TIME})?|-?${FULL_TIME})$`,
)

export const isInterval = (text: string) => interval.test(text)

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i

export const isUuid = (text: string) => uuid.test(text)
