// Ranges of values: which ones rows have, and where they lead in a column that follows them.

import type { TrailStep } from '../../core/addresses.ts'
import { limits } from '../../core/limits.ts'
import { type ColumnType, columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'
import type { ClosedRange } from '../../store/changes.ts'

/** Values "v" of one day, or of one part of the numbers between `low` and `high`, have one of these. */
export function bucketOf(type: ColumnType, width: Sql): Sql {
  // Microseconds of a day; as a parameter they would be a HUGEINT, and the division take twenty times as long.
  if (isTime(type)) return sql`epoch_us(v) // 86400000000`
  if (isNumber(type)) return sql`floor(CAST(v AS DOUBLE) / ${width})`
  return sql`true`
}

/** Of the values "v" of a query: none of their parts is smaller than one. */
export const widthOf = (values: Sql, type: ColumnType): Sql =>
  isNumber(type)
    ? sql`(SELECT greatest(1, (max(CAST(v AS DOUBLE)) - min(CAST(v AS DOUBLE))) / ${sql.value(limits.changedRanges)})
        FROM (${values}))`
    : sql`1`

/** Whether values that lie near each other have one bucket, and others another. */
export const hasParts = (type: ColumnType): boolean => isTime(type) || isNumber(type)

export const isTime = (type: ColumnType | ''): boolean => /^(?:DATE$|TIMESTAMP)/.test(type)
const isNumber = (type: ColumnType) =>
  /^(?:U?(?:TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$|DECIMAL|FLOAT|DOUBLE)/.test(type)

/** One for each day, or part of the numbers, of the values "v" of a query. NULLs are none. */
export async function rangesIn(
  connection: Connection,
  values: Sql,
  type: ColumnType,
): Promise<readonly ClosedRange[]> {
  const bucket = bucketOf(type, widthOf(values, type))
  const each = sql`
    SELECT min(v) AS low, max(v) AS high
    FROM (SELECT v, ${bucket} AS bucket FROM (${values}) WHERE v IS NOT NULL) GROUP BY bucket`
  return readRanges(connection, each)
}

/** `ranges`: a query of "low" and "high", of any type. They are joined where they are too many. */
export async function readRanges(
  connection: Connection,
  ranges: Sql,
): Promise<readonly ClosedRange[]> {
  const rows = await connection.rows(sql`
    SELECT CAST(min(low) AS VARCHAR) AS low, CAST(max(high) AS VARCHAR) AS high FROM (
      SELECT low, high, ntile(${sql.value(limits.changedRanges)}) OVER (ORDER BY low) AS part FROM (${ranges}))
    GROUP BY part ORDER BY part`)
  return rows.map(({ low, high }) => ({ low: textOf(low), high: textOf(high) }))
}

/** Ranges of a column, and how its values lead to those of another. */
export interface Leading {
  readonly type: ColumnType
  readonly steps: readonly TrailStep[]
  readonly ranges: readonly ClosedRange[]
}

/** The values of a column of this type to which those of the ranges lead, as ranges that do not meet. */
export async function lead(
  connection: Connection,
  all: readonly Leading[],
  to: ColumnType,
): Promise<readonly ClosedRange[] | null> {
  const some = all.flatMap(inParts)
  if (some.length <= 1 || countOf(all) <= limits.ledRanges) return leadAtOnce(connection, all, to)
  const found: ClosedRange[] = []
  for (const one of some) {
    const led = await leadAtOnce(connection, [one], to)
    if (led === null) return null
    found.push(...led)
  }
  // Each part has led to a few ranges, so that there are fewer each time.
  return lead(connection, [{ type: to, steps: [], ranges: found }], to)
}

const countOf = (all: readonly Leading[]): number =>
  all.reduce((sum, { ranges }) => sum + ranges.length, 0)

function inParts(one: Leading): readonly Leading[] {
  const { ranges } = one
  const parts = Math.ceil(ranges.length / limits.ledRanges)
  return Array.from({ length: parts }, (_, i) => ({
    ...one,
    ranges: ranges.slice(i * limits.ledRanges, (i + 1) * limits.ledRanges),
  }))
}

async function leadAtOnce(
  connection: Connection,
  all: readonly Leading[],
  to: ColumnType,
): Promise<readonly ClosedRange[] | null> {
  const parts = all
    .filter(({ ranges }) => ranges.length > 0)
    .map(({ type, steps, ranges }) => {
      const rows = sql.rows(ranges.map(({ low, high }) => [low, high]))
      const end = (name: 'low' | 'high') => {
        const value = sql`CAST(${sql.ident(name)} AS ${sql.type(type)})`
        const led = sql`TRY_CAST(${steps.reduce(after, value)} AS ${sql.type(to)})`
        // The clock of a zone is set back in some hours, so that later times come before earlier ones.
        const isMoved = steps.some((step) => 'zone' in step)
        if (!isMoved) return led
        const day = sql.value('1 day', INTERVAL)
        return sql`TRY_CAST(${led} ${name === 'low' ? sql`-` : sql`+`} ${day} AS ${sql.type(to)})`
      }
      return sql`SELECT ${end('low')} AS low, ${end('high')} AS high
        FROM (VALUES ${rows}) AS ranges(low, high)`
    })
  if (parts.length === 0) return []
  // Values that the column cannot have are those of rows that the query leaves out.
  const led = sql`(FROM (${sql.join(parts, sql` UNION ALL `)}) WHERE low IS NOT NULL OR high IS NOT NULL)`
  const open = await connection.row(
    sql`SELECT 1 FROM ${led} WHERE low IS NULL OR high IS NULL LIMIT 1`,
  )
  if (open !== null) return null
  return readRanges(connection, islands(led, sql`low > before`))
}

/** `isApart`: true where a range that begins at "low" is another one than what ends at "before". */
export const islands = (ranges: Sql, isApart: Sql): Sql => sql`
  SELECT min(low) AS low, max(high) AS high FROM (
    SELECT low, high, count(*) FILTER (before IS NULL OR ${isApart}) OVER (ORDER BY low, high) AS island FROM (
      SELECT low, high, max(high) OVER (
        ORDER BY low, high ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
      FROM ${ranges}))
  GROUP BY island`

/**
 * `ranges`: a query of "low" and "high", as texts or of any type; those that are no values of the column are left out. One
 * range for those that meet, or lie in days or whole numbers of which one follows the other.
 */
export function joinedRanges(
  connection: Connection,
  ranges: Sql,
  type: ColumnType,
): Promise<readonly ClosedRange[]> {
  const value = (end: 'low' | 'high') => sql`TRY_CAST(${sql.ident(end)} AS ${sql.type(type)})`
  const isFinite = isTime(type) ? sql`isfinite(low) AND isfinite(high)` : sql`true`
  const known = sql`(FROM (SELECT ${value('low')} AS low, ${value('high')} AS high FROM (${ranges}))
    WHERE low <= high AND ${isFinite})`
  const partOf = (end: 'low' | 'before') =>
    isTime(type)
      ? sql`epoch_us(${sql.ident(end)}) // 86400000000`
      : sql`CAST(${sql.ident(end)} AS DOUBLE)`
  return readRanges(connection, islands(known, sql`${partOf('low')} > ${partOf('before')} + 1`))
}

const INTERVAL = columnType('INTERVAL')

export function after(value: Sql, step: TrailStep): Sql {
  if ('cast' in step) return sql`TRY_CAST(${value} AS ${sql.type(columnType(step.cast))})`
  if ('trunc' in step) return sql`date_trunc(${sql.value(step.trunc)}, ${value})`
  if ('zone' in step) return sql`timezone(${sql.value(step.zone)}, ${value})`
  if ('otherwise' in step) return sql`coalesce(${value}, ${sql.value(step.otherwise)})`
  if ('call' in step) {
    const others = step.with.map((one) => sql.value(one))
    return sql`${sql.ident(step.call)}(${sql.join([value, ...others])})`
  }
  return sql`time_bucket(${sql.value(step.bucket, INTERVAL)}, ${value})`
}

/** True of rows whose value is in one of the ranges. */
export function isTouched(column: Sql, ranges: readonly ClosedRange[]): Sql {
  // An unknown text is read as the type of the column.
  const within = ranges.map(
    ({ low, high }) => sql`${column} BETWEEN ${sql.value(low)} AND ${sql.value(high)}`,
  )
  return sql`(${sql.any(within)})`
}
