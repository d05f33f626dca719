// An input that forgets its oldest rows (`@keep`) may still get some that are older, and lose them in the same run. What
// lies below the rows that it keeps has not changed for those who have read it, and to read it again there would take away
// what only they still have.

import type { Followed } from '../../compiler/lineage/follow.ts'
import { sameName } from '../../core/names.ts'
import { isInHours, keepOf } from '../../core/retention.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { ClosedRange } from '../../store/changes.ts'
import { cutoffOf } from '../build/old-rows.ts'
import type { RunContext } from '../run-context.ts'
import { hasParts } from './ranges.ts'

/** The ranges as far as the table has, or could have, rows in them. */
export async function withoutForgotten(
  context: RunContext,
  followed: Followed,
  ranges: readonly ClosedRange[],
): Promise<readonly ClosedRange[]> {
  const { model: name, type } = followed
  const model = context.project.models.get(name)
  const keep = model === undefined ? null : keepOf(model)
  if (keep === null || ranges.length === 0 || !hasParts(type)) return ranges
  const least = sameName(keep.column, followed.column)
    ? leastKept(followed, cutoffOf(keep, context), isInHours(keep) ? 'hour' : 'day')
    : sql`SELECT min(${sql.ident(followed.column)}) FROM ${sql.relation(name)}`
  const rows = ranges.map(({ low, high }) => sql`(${sql.value(low)}, ${sql.value(high)})`)
  const value = (end: 'low' | 'high') => sql`CAST(${sql.ident(end)} AS ${sql.type(type)})`
  const edge = sql`CAST(least AS ${sql.type(type)})`
  // A table without rows has forgotten all that it had.
  const found = await context.connection.texts(sql`
    SELECT CAST(greatest(${value('low')}, ${edge}) AS VARCHAR) AS low, high
    FROM (VALUES ${sql.join(rows)}) AS ranges(low, high), (SELECT (${least}) AS least)
    WHERE ${value('high')} >= ${edge}`)
  return found as unknown as readonly ClosedRange[]
}

/** Nothing was removed from the time on at which it cuts now, nor from the oldest row on, with the whole of its day. */
const leastKept = ({ model, column }: Followed, cutoff: Sql, unit: string): Sql => {
  const name = sql.ident(column)
  return sql`SELECT least(${cutoff}, CAST(date_trunc(${sql.value(unit)}, min(${name})) AS TIMESTAMP))
    FROM ${sql.relation(model)} WHERE ${name} < ${cutoff}`
}
