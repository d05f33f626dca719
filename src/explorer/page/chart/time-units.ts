// Times cut to hours, days, weeks, months, quarters and years: by the service, so that every point of a line is a row of
// the answer. Weeks begin on Monday and are counted from that of 1970-01-05. All of it is UTC, as the service is.

export const timeUnits = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const
export type TimeUnit = (typeof timeUnits)[number]

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const WEEK_S = 604_800
const FIRST_MONDAY_MS = 4 * DAY_MS

/** The number of points that a line of the width of a page can show apart. */
const MOST_POINTS = 400
/** Below that a finer unit says more. */
const FEWEST_POINTS = 20

/** The finest unit that does not make more than `most` points; hours only where days would be a handful. */
export function unitBetween(
  least: string,
  greatest: string,
  { hasTime, most = MOST_POINTS }: { readonly hasTime: boolean; readonly most?: number },
): TimeUnit {
  const points = (unit: TimeUnit) => pointsBetween(least, greatest, unit)
  const needsHours = hasTime && points('day') < Math.min(FEWEST_POINTS, most / 2)
  const allowed = timeUnits.filter((unit) => unit !== 'hour' || needsHours)
  return allowed.find((unit) => points(unit) <= most) ?? 'year'
}

export function pointsBetween(least: string, greatest: string, unit: TimeUnit): number {
  return indexOf(Date.parse(greatest), unit) - indexOf(Date.parse(least), unit) + 1
}

/** How many units after the beginning of 1970 a time is. */
export function indexOf(ms: number, unit: TimeUnit): number {
  const date = new Date(ms)
  const months = (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()
  switch (unit) {
    case 'hour':
      return Math.floor(ms / HOUR_MS)
    case 'day':
      return Math.floor(ms / DAY_MS)
    case 'week':
      return Math.floor((ms - FIRST_MONDAY_MS) / (WEEK_S * 1000))
    case 'month':
      return months
    case 'quarter':
      return Math.floor(months / 3)
    case 'year':
      return date.getUTCFullYear() - 1970
  }
}

/** Where the unit with that number begins. */
export function startOf(index: number, unit: TimeUnit): number {
  switch (unit) {
    case 'hour':
      return index * HOUR_MS
    case 'day':
      return index * DAY_MS
    case 'week':
      return index * WEEK_S * 1000 + FIRST_MONDAY_MS
    case 'month':
      return startOfMonth(index)
    case 'quarter':
      return startOfMonth(index * 3)
    case 'year':
      return startOfMonth(index * 12)
  }
}

/** Date.UTC() takes the years 0 to 99 for those of the twentieth century. */
function startOfMonth(months: number): number {
  const date = new Date(0)
  date.setUTCFullYear(1970 + Math.floor(months / 12), ((months % 12) + 12) % 12, 1)
  return date.getTime()
}

export function unitLabel(index: number, unit: TimeUnit): string {
  const date = new Date(startOf(index, unit))
  const text = date.toISOString().replace(/^\+0*(?=\d{4})/, '')
  switch (unit) {
    case 'hour':
      return `${text.slice(0, 10)} ${text.slice(11, 13)}:00`
    case 'day':
      return text.slice(0, 10)
    case 'week':
      return `week of ${text.slice(0, 10)}`
    case 'month':
      return text.slice(0, 7)
    case 'quarter':
      return `${text.slice(0, 4)} Q${Math.floor(date.getUTCMonth() / 3) + 1}`
    case 'year':
      return text.slice(0, 4)
  }
}

export interface TimeGroups {
  /** Expressions with the names that they get, for `compute`; none when the column itself is the key. */
  readonly computed: readonly { readonly expression: string; readonly name: string }[]
  /** What is grouped by. */
  readonly keys: readonly string[]
  /** The number of the unit from the values of the keys; null where the time is null. */
  indexOf(values: readonly unknown[]): number | null
}

/** How the service is asked for the times of `path`, cut to a unit. `name` gives a name that no column has. */
export function timeGroups(
  path: string,
  unit: TimeUnit,
  { hasTime, name }: { readonly hasTime: boolean; readonly name: (wanted: string) => string },
): TimeGroups {
  const day = hasTime ? [{ expression: `date(${path})`, name: name('day') }] : []
  const year = { expression: `year(${path})`, name: name('year') }
  const made = (
    computed: TimeGroups['computed'],
    index: (...values: readonly number[]) => number,
  ): TimeGroups => ({
    computed,
    keys: computed.length === 0 ? [path] : computed.map((one) => one.name),
    indexOf(values) {
      if (values.some((value) => value === null || value === undefined)) return null
      return index(...values.map(numberOf))
    },
  })
  switch (unit) {
    case 'hour':
      return made(
        [...day, { expression: `hour(${path})`, name: name('hour') }],
        (date = 0, hour = 0) => indexOf(date, 'hour') + hour,
      )
    case 'day':
      return made(day, (date = 0) => indexOf(date, 'day'))
    case 'week': {
      const monday = hasTime ? '1970-01-05T00:00:00Z' : '1970-01-05'
      const expression = `floor(totalseconds(${path} sub ${monday}) divby ${WEEK_S})`
      return made([{ expression, name: name('week') }], (week = 0) => week)
    }
    case 'month':
      return made(
        [year, { expression: `month(${path})`, name: name('month') }],
        (y = 0, month = 1) => (y - 1970) * 12 + month - 1,
      )
    case 'quarter':
      return made(
        [year, { expression: `(month(${path}) sub 1) div 3`, name: name('quarter') }],
        (y = 0, quarter = 0) => (y - 1970) * 4 + quarter,
      )
    case 'year':
      return made([year], (y = 0) => y - 1970)
  }
}

/** A date as its milliseconds, a number as itself. */
function numberOf(value: unknown): number {
  return typeof value === 'string' && /^\d{4}-/.test(value) ? Date.parse(value) : Number(value)
}
