// Moments of a CSV with the name of a zone next to some with none: DuckDB reads those in the zone that the rows before them
// had, though they are in UTC.

import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { type MisreadNumber, short } from './misread-numbers.ts'

/** Behind the time, and of two letters or more; T and Z stand alone, and `infinity` has no time. */
const NAME = '^[0-9].*[0-9] ?[A-Za-z]{2}'
const UTC = '(?i).*[0-9] ?(?:UTC|GMT)'
const ZONELESS = '[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[ T][0-9:.]+)?'

/**
 * A moment that may be read in the zone of another. `texts`: the rows with each value as it is written; `columns`: with the
 * types by which they are read.
 */
export async function leakingZone(
  connection: Connection,
  texts: Sql,
  columns: readonly Pick<Column, 'name' | 'type'>[],
): Promise<MisreadNumber | null> {
  for (const { name, type } of columns) {
    if (type !== 'TIMESTAMP WITH TIME ZONE') continue
    const text = sql`trim(${sql.ident(name)})`
    const isNamed = sql`regexp_matches(${text}, ${sql.value(NAME)}) AND NOT regexp_full_match(${text}, ${sql.value(UTC)})`
    const least = async (condition: Sql) => {
      const row = await connection.row(
        sql`SELECT min(${text}) FILTER (WHERE ${condition}) AS value FROM (${texts})`,
      )
      return typeof row?.['value'] === 'string' ? row['value'] : null
    }
    const value = await least(isNamed)
    if (value === null) continue
    const bare = await least(sql`regexp_full_match(${text}, ${sql.value(ZONELESS)})`)
    if (bare === null) continue
    const problem = `the column "${name}" has ${short(value)}, whose zone would also be that of later values without one, such as ${short(bare)}`
    return { column: name, value, problem }
  }
  return null
}

export const zoneHint = (column: string) =>
  `write an offset at each value, such as -04:00 or Z, or declare ${column}: VARCHAR and convert it in a model`
