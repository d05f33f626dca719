// Where the rows lie whose times lead to some values: the engine passes over the parts of a table that lie elsewhere, which
// it does by a column, and not by what a function makes of it.

import type { Trail, TrailStep } from '../../core/addresses.ts'
import { columnType, isWholeNumber } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'

interface Values {
  /** A relation of "v". */
  readonly values: Sql
  readonly type: string
}

/** True of all rows whose column leads to one of the values, and of some others; null: nothing is known, or nothing needed. */
export function nearValues(
  { type = '', steps }: Pick<Trail, 'type' | 'steps'>,
  column: Sql,
  { values, type: given }: Values,
): Sql | null {
  if (steps.length === 0 || !TIMES.has(type)) return null
  const own = sql.type(columnType(type))
  const between = (start: Sql, end: Sql) => sql`
    ${column} >= (SELECT coalesce(TRY_CAST(${start} AS ${own}), '-infinity') FROM ${values})
    AND ${column} <= (SELECT coalesce(TRY_CAST(${end} AS ${own}), 'infinity') FROM ${values})`
  if (isYear(steps) && isWholeNumber(given)) {
    const startOf = (year: Sql) =>
      sql`CASE WHEN ${year} BETWEEN 1 AND 9999 THEN make_date(${year}, 1, 1) END`
    return between(startOf(sql`min(v::BIGINT)`), startOf(sql`max(v::BIGINT) + 1`))
  }
  const widths = steps.map(widthOf)
  if (!TIMES.has(given) || widths.includes(null)) return null
  // From the value back to the column: a month after a week is not a week after a month.
  const after = widths.toReversed().map((width) => sql` + ${sql.value(width, INTERVAL)}`)
  // Beyond these years the sum may be no time any more.
  const end = sql`CASE WHEN max(v) BETWEEN DATE '0001-01-01' AND DATE '9999-01-01' THEN max(v)${sql.join(after, sql.empty)} END`
  return between(sql`min(v)`, end)
}

/** Also of a number of another type. */
function isYear([first, ...more]: readonly TrailStep[]): boolean {
  const isCast = (step: TrailStep) => 'cast' in step && isWholeNumber(step.cast)
  return first !== undefined && 'call' in first && first.call === 'year' && more.every(isCast)
}

const INTERVAL = columnType('INTERVAL')

const TIMES: ReadonlySet<string> = new Set(['DATE', 'TIMESTAMP'])

/** A value lies before the one that leads to it by less than this; null: unknown. */
function widthOf(step: TrailStep): string | null {
  if ('cast' in step)
    return step.cast === 'DATE' ? '1 day' : step.cast === 'TIMESTAMP' ? '0 days' : null
  // Months differ, so that one more is too much, and enough.
  if ('bucket' in step) return step.bucket
  return 'trunc' in step ? (WIDTHS.get(step.trunc.toLowerCase()) ?? null) : null
}

const WIDTHS: ReadonlyMap<string, string> = new Map([
  ['second', '1 second'],
  ['minute', '1 minute'],
  ['hour', '1 hour'],
  ['day', '1 day'],
  ['week', '7 days'],
  ['month', '31 days'],
  ['quarter', '92 days'],
  ['year', '366 days'],
])
