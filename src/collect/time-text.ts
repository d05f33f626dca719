// Texts of dates and times that the door takes: the part of ISO 8601 that the engine reads without losing anything of
// meaning. The engine also takes a date-time for a DATE and an offset for a TIMESTAMP, and drops the rest silently.

const DATE = String.raw`(\d{4})-(\d\d)-(\d\d)`
const TIME = String.raw`([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?`
const FULL_TIME = String.raw`([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?`
const OFFSET = String.raw`[+-](?:0\d|1[0-5])(?::?[0-5]\d)?`
const ZERO_OFFSET = String.raw`[+-]00(?::?00)?`

const date = new RegExp(`^${DATE}$`)
const time = new RegExp(`^${TIME}$`)
const timeWithZone = new RegExp(String.raw`^${FULL_TIME}(?:[+-](?:0\d|1[0-5])(?::[0-5]\d)?)?$`)
const timestamp = new RegExp(`^${DATE}(?:[T ](?:${TIME}|${FULL_TIME}(?:Z|${ZERO_OFFSET})))?$`)
const timestampWithZone = new RegExp(`^${DATE}(?:[T ](?:${TIME}|${FULL_TIME}(?:Z|${OFFSET})))?$`)

export const isDate = (text: string) => isDayOf(date.exec(text))
export const isTime = (text: string) => time.test(text)
export const isTimeWithZone = (text: string) => timeWithZone.test(text)
export const isTimestamp = (text: string) => isDayOf(timestamp.exec(text))
export const isTimestampWithZone = (text: string) => isDayOf(timestampWithZone.exec(text))

/** TIMESTAMP_NS counts nanoseconds in 64 bits: full years from 1678 to 2261. */
export function isTimestampNs(text: string): boolean {
  return isTimestamp(text) && text >= '1678' && text < '2262'
}

function isDayOf(match: RegExpExecArray | null): boolean {
  if (match === null) return false
  const year = Number(match[1])
  const month = Number(match[2])
  const day = Number(match[3])
  if (year < 1 || day < 1) return false
  if (day <= 28) return month >= 1 && month <= 12
  if (month === 2) return day === 29 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month >= 1 && month <= 12 && day <= ([4, 6, 9, 11].includes(month) ? 30 : 31)
}

const UNIT = '(?:year|month|week|day|hour|minute|second|millisecond|microsecond)s?'
// Eight digits keep every unit inside the engine's months, days and microseconds.
const interval = new RegExp(
  String.raw`^(?:-?\d{1,8} ${UNIT}(?: -?\d{1,8} ${UNIT})*(?: -?${FULL_TIME})?|-?${FULL_TIME})$`,
)

export const isInterval = (text: string) => interval.test(text)

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i

export const isUuid = (text: string) => uuid.test(text)
