// Periods at the ends of a chart that have rows for a part of them, and would look like a collapse.

import type { ChartMark } from './chart-data.ts'
import { startOf, type TimeUnit } from './time-units.ts'

/** The first and the last mark, where the data begin within the one or end within the other. */
export interface IncompleteEnds {
  readonly first: boolean
  readonly last: boolean
}

/**
 * `covered`: the days that rows are there for, or are asked for. Of hours and days only the one of today is incomplete.
 * Days of rows that both begin a period stand for periods, as in a table with a row for each month.
 */
export function incompleteEnds(
  marks: readonly ChartMark[],
  unit: TimeUnit,
  covered: { readonly from: string; readonly to: string; readonly isAsked: boolean },
  today: string,
): IncompleteEnds {
  const [first, last] = [marks[0]?.index, marks.at(-1)?.index]
  if (typeof first !== 'number' || typeof last !== 'number') return { first: false, last: false }
  const isLong = unit !== 'hour' && unit !== 'day'
  const startsAt = new Date(startOf(first, unit)).toISOString().slice(0, 10)
  const endsAt = new Date(startOf(last + 1, unit) - 1).toISOString().slice(0, 10)
  const lastStart = new Date(startOf(last, unit)).toISOString().slice(0, 10)
  const isOfPeriods = !covered.isAsked && covered.from === startsAt && covered.to === lastStart
  const isNow = lastStart <= today && today <= endsAt
  return {
    first: isLong && covered.from > startsAt,
    last: isNow || (isLong && !isOfPeriods && covered.to < endsAt),
  }
}
