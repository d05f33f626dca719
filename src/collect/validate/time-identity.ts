// What the texts of time-text.ts mean: two that are equal in their type give the same result.

const CLOCK =
  /^(?:(\d{4}-\d\d-\d\d)[T ]?)?(?:(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?(Z|[+-]\d\d(?::?\d\d)?)?$/

/** For a TIME, or a TIMESTAMP with an offset or without. */
export function instantOf(text: string): string {
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
export function zonedClockOf(text: string): string {
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
export function microsecondsOf(text: string): bigint {
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
