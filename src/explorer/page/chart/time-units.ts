// Times cut to hours, days, weeks, months, quarters and years: by the service, so that every point of a line is a row of
// the answer. Weeks begin on Monday and are counted from that of 1970-01-05. All of it is UTC, as the service is.

import { chartPeriods } from '../../../core/boards.ts'

export const timeUnits = chartPeriods
export type TimeUnit = (typeof timeUnits)[number]

const DAY_MS = 86_400_000
const WEEK_S = 604_800

/** Units are of one length, with a time at which the first of them begins, or of so many months. */
const LENGTHS: Readonly<Record<TimeUnit, { ms: number; firstMs: number } | { months: number }>> = {
  hour: { ms: DAY_MS / 24, firstMs: 0 },
  day: { ms: DAY_MS, firstMs: 0 },
  week: { ms: WEEK_S * 1000, firstMs: 4 * DAY_MS },
  month: { months: 1 },
  quarter: { months: 3 },
  year: { months: 12 },
}

/** The number of points that a line of the width of a page can show apart. */
const MOST_POINTS = 400
/** Below that a finer unit says more. */
const FEWEST_POINTS = 20

interface UnitOptions {
  readonly hasTime: boolean
  /** Of the column. */
  readonly name?: string
  readonly most?: number
}

/** A column with the name of a unit has one time in each of them, as the `month` of a rollup: weeks would be mostly empty. */
const grainOf = (name: string) => timeUnits.find((unit) => unit === name.toLowerCase())

/** The finest unit that does not make more than `most` points; hours only where days would be a handful. */
export function unitBetween(
  least: string,
  greatest: string,
  { hasTime, name = '', most = MOST_POINTS }: UnitOptions,
): TimeUnit {
  const points = (unit: TimeUnit) => pointsBetween(least, greatest, unit)
  const needsHours = hasTime && points('day') < Math.min(FEWEST_POINTS, most / 2)
  const finest = grainOf(name)
  const allowed = timeUnits
    .slice(finest === undefined ? 0 : timeUnits.indexOf(finest))
    .filter((unit) => unit !== 'hour' || needsHours || unit === finest)
  return allowed.find((unit) => points(unit) <= most) ?? 'year'
}

export function pointsBetween(least: string, greatest: string, unit: TimeUnit): number {
  return indexOf(Date.parse(greatest), unit) - indexOf(Date.parse(least), unit) + 1
}

export function indexOf(ms: number, unit: TimeUnit): number {
  const length = LENGTHS[unit]
  if ('ms' in length) return Math.floor((ms - length.firstMs) / length.ms)
  const date = new Date(ms)
  const months = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()
  return Math.floor(months / length.months)
}

/** Where the unit with that number begins. Date.UTC() takes the years 0 to 99 for those of the twentieth century. */
export function startOf(index: number, unit: TimeUnit): number {
  const length = LENGTHS[unit]
  if ('ms' in length) return index * length.ms + length.firstMs
  return new Date(0).setUTCFullYear(1970, index * length.months, 1)
}

export function unitLabel(index: number, unit: TimeUnit): string {
  const date = new Date(startOf(index, unit))
  const text = date.toISOString().replace(/^\+0*(?=\d{4})/, '')
  const labels: Readonly<Record<TimeUnit, string>> = {
    hour: `${text.slice(0, 10)} ${text.slice(11, 13)}:00`,
    day: text.slice(0, 10),
    week: `week of ${text.slice(0, 10)}`,
    month: text.slice(0, 7),
    quarter: `${text.slice(0, 4)} Q${Math.floor(date.getUTCMonth() / 3) + 1}`,
    year: text.slice(0, 4),
  }
  return labels[unit]
}

/** How the service is asked for the times of `path`, cut to a unit. `name` gives a name that no column has. */
export function timeGroups(
  path: string,
  unit: TimeUnit,
  { hasTime, name }: { readonly hasTime: boolean; readonly name: (wanted: string) => string },
) {
  const day = hasTime ? { day: `date(${path})` } : {}
  const year = { year: `year(${path})` }
  const monday = hasTime ? '1970-01-05T00:00:00Z' : '1970-01-05'
  const parts: Readonly<Record<TimeUnit, Readonly<Record<string, string>>>> = {
    hour: { ...day, hour: `hour(${path})` },
    day,
    week: { week: `floor(totalseconds(${path} sub ${monday}) divby ${WEEK_S})` },
    month: { ...year, month: `month(${path})` },
    quarter: { ...year, quarter: `(month(${path}) sub 1) div 3` },
    year,
  }
  const computed = Object.entries(parts[unit]).map(([wanted, expression]) => ({
    expression,
    name: name(wanted),
  }))
  return {
    computed,
    keys: computed.length === 0 ? [path] : computed.map((one) => one.name),
    indexOf(values: readonly unknown[]) {
      if (values.some((value) => value === null || value === undefined)) return null
      const [first = 0, second = 0] = values.map(numberOf)
      return INDEXES[unit](first, second)
    },
  }
}

const INDEXES: Readonly<Record<TimeUnit, (first: number, second: number) => number>> = {
  hour: (date, hour) => indexOf(date, 'hour') + hour,
  day: (date) => indexOf(date, 'day'),
  week: (week) => week,
  month: (year, month) => (year - 1970) * 12 + month - 1,
  quarter: (year, quarter) => (year - 1970) * 4 + quarter,
  year: (year) => year - 1970,
}

function numberOf(value: unknown): number {
  return typeof value === 'string' && /^\d{4}-/.test(value) ? Date.parse(value) : Number(value)
}
