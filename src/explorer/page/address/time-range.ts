// Times as people say them: `last 7 days`, `2001-05`, `2024-Q1`, `2024-01-05 to 2024-02-01`. Each is a number of whole days,
// both ends included, in UTC as all times of the service are.

import { writeLiteral } from './literal.ts'

export interface TimeRange {
  /** The first day, as 2024-01-31. */
  readonly from: string
  /** The last day, which belongs to it. */
  readonly to: string
}

/** What is said where something else was written. */
export const RANGE_EXAMPLES = '2026-01-31, 2026-01, 2026-Q1, 2026, today or last 7 days'

const DAY_MS = 86_400_000
const DAY = /^\d{4}-\d\d-\d\d$/

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

const addDays = (day: string, days: number): string => dayOf(Date.parse(day) + days * DAY_MS)

/** What the control offers, for a day that is today. */
export const PRESETS = [
  'today',
  'last 7 days',
  'last 30 days',
  'last 90 days',
  'this month',
  'this quarter',
  'this year',
] as const

/** undefined for what is not a time, or ends before it begins. */
export function readTimeRange(text: string, today: string): TimeRange | undefined {
  const words = text.trim().toLowerCase().replaceAll(/\s+/g, ' ')
  const both = /^(.+?) ?(?: to |\.\.|–) ?(.+)$/.exec(words)
  if (both !== null) {
    const [first, last] = [readTimeRange(both[1]!, today), readTimeRange(both[2]!, today)]
    if (first === undefined || last === undefined || first.from > last.to) return undefined
    return { from: first.from, to: last.to }
  }
  return readWords(words, today) ?? readPeriod(words)
}

function readWords(words: string, today: string): TimeRange | undefined {
  if (words === 'today') return { from: today, to: today }
  if (words === 'yesterday') return { from: addDays(today, -1), to: addDays(today, -1) }
  const days = /^last (\d{1,5}) days?$/.exec(words)
  // Today is one of them.
  if (days !== null && Number(days[1]) > 0)
    return { from: addDays(today, 1 - Number(days[1])), to: today }
  const period = /^(this|last) (week|month|quarter|year)$/.exec(words)
  if (period === null) return undefined
  const current = periodOf(today, period[2] as Period)
  return period[1] === 'this' ? current : periodOf(addDays(current.from, -1), period[2] as Period)
}

type Period = 'week' | 'month' | 'quarter' | 'year'

function periodOf(day: string, period: Period): TimeRange {
  if (period === 'week') {
    const from = addDays(day, -((new Date(day).getUTCDay() + 6) % 7))
    return { from, to: addDays(from, 6) }
  }
  const [year = 0, month = 0] = day.split('-').map(Number)
  const length = MONTHS[period]
  return monthsFrom(year, Math.floor((month - 1) / length) * length, length)
}

const MONTHS = { month: 1, quarter: 3, year: 12 } as const

/** Date.UTC() takes the years 0 to 99 for those of the twentieth century. */
const monthStart = (year: number, month: number) => new Date(0).setUTCFullYear(year, month, 1)

function monthsFrom(year: number, month: number, length: number): TimeRange {
  const end = monthStart(year, month + length)
  return { from: dayOf(monthStart(year, month)), to: dayOf(end - DAY_MS) }
}

/** `2001`, `2001-05`, `2024-Q1`, `2024-01-31`. */
function readPeriod(text: string): TimeRange | undefined {
  const found = /^(\d{4})(?:-(?:q([1-4])|(\d\d)(?:-(\d\d))?))?$/.exec(text)
  if (found === null || found[1] === '0000') return undefined
  const [, year, quarter, month, day] = found
  if (quarter !== undefined) return monthsFrom(Number(year), (Number(quarter) - 1) * 3, 3)
  if (month === undefined) return monthsFrom(Number(year), 0, 12)
  if (Number(month) < 1 || Number(month) > 12) return undefined
  const whole = monthsFrom(Number(year), Number(month) - 1, 1)
  if (day === undefined) return whole
  return text >= whole.from && text <= whole.to ? { from: text, to: text } : undefined
}

/** The shortest form that means these days, as somebody would write it who wants to change it. */
export function writeRange({ from, to }: TimeRange): string {
  if (from === to) return from
  const year = from.slice(0, 4)
  const quarter = Math.floor((Number(from.slice(5, 7)) - 1) / 3) + 1
  for (const text of [year, `${year}-Q${quarter}`, from.slice(0, 7)]) {
    const meant = readPeriod(text.toLowerCase())
    if (meant?.from === from && meant.to === to) return text
  }
  return `${from} to ${to}`
}

/** "January 2024" where it is a month, else as one would write it. */
export function sayRange(range: TimeRange): string {
  const text = writeRange(range)
  if (!/^\d{4}-\d\d$/.test(text)) return text.replace(/^(\d{4})-(Q\d)$/, '$2 $1')
  const month = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' })
  return `${month.format(Date.parse(range.from))} ${text.slice(0, 4)}`
}

/** The range of the same length just before it. Before whole months there are as many months. */
export function rangeBefore({ from, to }: TimeRange): TimeRange {
  const [end, last] = [addDays(from, -1), addDays(to, 1)]
  if (from.endsWith('-01') && last.endsWith('-01')) {
    const monthsOf = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1
    const length = monthsOf(last) - monthsOf(from)
    const start = monthsOf(from) - length
    return { from: dayOf(monthStart(Math.floor(start / 12), start % 12)), to: end }
  }
  const days = Math.round((Date.parse(last) - Date.parse(from)) / DAY_MS)
  return { from: addDays(from, -days), to: end }
}

// A range and $filter. Of a time the end is the beginning of the next day, so that all of the last day belongs to it.

export const isTimeType = (edm: string | undefined): boolean =>
  edm === 'Edm.Date' || edm === 'Edm.DateTimeOffset'

export function rangeFilter(column: string, edm: string, { from, to }: TimeRange): string {
  return edm === 'Edm.Date'
    ? `${column} ge ${from} and ${column} le ${to}`
    : `${column} ge ${startOfDay(from)} and ${column} lt ${startOfDay(addDays(to, 1))}`
}

const startOfDay = (day: string): string => `${day}T00:00:00Z`

/** undefined where the bounds are not those of whole days. */
export function rangeBetween(
  lower: string,
  upper: { readonly operator: string; readonly value: string },
  edm: string | undefined,
): TimeRange | undefined {
  const isDate = edm === 'Edm.Date'
  if (!isTimeType(edm)) return undefined
  if (upper.operator !== (isDate ? 'le' : 'lt')) return undefined
  const day = (text: string) => (isDate ? text : text.replace(/T00:00:00Z$/, ''))
  const [from, end] = [day(lower), day(upper.value)]
  if (!DAY.test(from) || !DAY.test(end)) return undefined
  if (Number.isNaN(Date.parse(from)) || Number.isNaN(Date.parse(end))) return undefined
  const to = isDate ? end : addDays(end, -1)
  return from <= to ? { from, to } : undefined
}

type Bound = { readonly day: TimeRange } | { readonly exact: string }

/**
 * A condition of a column of times as somebody has written it, as `$filter`; a day, a month or a year means all of it.
 * Throws an Error that says what to write instead.
 */
export function timeFilter(
  column: string,
  edm: string,
  { operator, values, today }: { operator: string; values: readonly string[]; today: string },
): string {
  const [first, second] = values.map((value) => readBound(value, edm, today))
  const last = second ?? first!
  const [start, end] = [boundStart(first!), boundEnd(last, edm)]
  const isRange = operator === 'within' || operator === 'between'
  if (isRange && start > ('day' in last ? last.day.to : last.exact))
    throw new Error('the range ends before it begins')
  const write = {
    from: `${column} ge ${writeLiteral(start, edm)}`,
    to: `${column} ${end.operator} ${writeLiteral(end.value, edm)}`,
  }
  if ('exact' in first! && !isRange)
    return `${column} ${operator} ${writeLiteral(first.exact, edm)}`
  switch (operator) {
    case 'ge':
      return write.from
    case 'lt':
      return `${column} lt ${writeLiteral(start, edm)}`
    case 'le':
      return write.to
    case 'gt':
      return `${column} ${end.operator === 'le' ? 'gt' : 'ge'} ${writeLiteral(end.value, edm)}`
    case 'ne': {
      const after = `${column} ${end.operator === 'le' ? 'gt' : 'ge'} ${writeLiteral(end.value, edm)}`
      return `(${column} lt ${writeLiteral(start, edm)} or ${after})`
    }
    default:
      return `${write.from} and ${write.to}`
  }
}

function readBound(text: string, edm: string, today: string): Bound {
  const day = readTimeRange(text, today)
  if (day !== undefined) return { day }
  const exact = text.trim().replace(' ', 'T')
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?$/i.test(exact)
  if (edm === 'Edm.DateTimeOffset' && isTime && !Number.isNaN(Date.parse(exact)))
    return { exact: text.trim() }
  const time = edm === 'Edm.DateTimeOffset' ? '2026-01-31 08:30, ' : ''
  throw new Error(
    `"${text.trim().slice(0, 40)}" is not a time; write one like ${time}${RANGE_EXAMPLES}`,
  )
}

const boundStart = (bound: Bound) => ('day' in bound ? bound.day.from : bound.exact)

/** The last of exact times belongs to the range, as `le` has it. */
function boundEnd(
  bound: Bound,
  edm: string,
): { readonly operator: 'le' | 'lt'; readonly value: string } {
  if ('exact' in bound) return { operator: 'le', value: bound.exact }
  if (edm === 'Edm.Date') return { operator: 'le', value: bound.day.to }
  return { operator: 'lt', value: addDays(bound.day.to, 1) }
}
