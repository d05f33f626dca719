// Dates and times of the reference, in the calendar that goes on before 1582 as it does today.

import {
  Clock,
  Day,
  Duration,
  Failure,
  floorDivide,
  Instant,
  int,
  US_PER_DAY,
  type Value,
} from './values.ts'

const LEAST = -719_162n
const MOST = 2_932_896n

/** Year 1 to 9999. */
function instant(us: bigint): Instant {
  if (us < LEAST * US_PER_DAY || us >= (MOST + 1n) * US_PER_DAY) throw new Failure('year')
  return new Instant(us)
}

function day(days: bigint): Day {
  if (days < LEAST || days > MOST) throw new Failure('year')
  return new Day(days)
}

export const daysOf = (value: Day | Instant): bigint =>
  value instanceof Day ? value.days : floorDivide(value.us, US_PER_DAY)

export function usOfDay(value: Clock | Instant): bigint {
  return value instanceof Clock ? value.us : value.us - daysOf(value) * US_PER_DAY
}

export const printDay = (days: bigint): string =>
  new Date(Number(days) * 86_400_000).toISOString().replace(/^\+00|T.*$/g, '')

export function printClock(us: bigint): string {
  const two = (n: bigint) => String(n).padStart(2, '0')
  const fraction = String(us % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  const seconds = us / 1_000_000n
  const text = `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}`
  return fraction === '' ? text : `${text}.${fraction}`
}

export function datePart(name: string, value: Value): Value {
  if (value === null) return null
  if (name === 'year' || name === 'month' || name === 'day') {
    const [year, month, dayOfMonth] = printDay(daysOf(value as Day | Instant)).split('-')
    return int(Number({ year, month, day: dayOfMonth }[name]))
  }
  const us = usOfDay(value as Clock | Instant)
  if (name === 'fractionalseconds') return { units: us % 1_000_000n, scale: 6 }
  const seconds = us / 1_000_000n
  return int({ hour: seconds / 3600n, minute: (seconds / 60n) % 60n, second: seconds % 60n }[name]!)
}

/** A date or a time of day and night, later or earlier by a duration. A date is cut off to its day. */
export function shift(operator: string, a: Value, b: Value): Value {
  if (a === null || b === null) return null
  const us = operator === 'add' ? (b as Duration).us : -(b as Duration).us
  if (a instanceof Instant) return instant(a.us + us)
  return day(daysOf(instant((a as Day).days * US_PER_DAY + us)))
}

/** Of two durations, or the duration between two dates or times. */
export function durationOf(operator: string, a: Value, b: Value): Value {
  if (a === null || b === null) return null
  if (a instanceof Day) return new Duration((a.days - (b as Day).days) * US_PER_DAY)
  const [x, y] = [(a as Duration).us, (b as Duration).us]
  return new Duration(operator === 'add' ? x + y : x - y)
}

export const dayOf = (value: Value): Value =>
  value === null ? null : new Day(daysOf(value as Instant))

export const clockOf = (value: Value): Value =>
  value === null ? null : new Clock(usOfDay(value as Instant))
