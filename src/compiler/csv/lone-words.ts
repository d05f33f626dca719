// Columns of a CSV that DuckDB reads as true or false, and that have one word which is as likely a code: NO is Norway and no is
// Norwegian, F and T are sexes, grades and ways. With its opposite, or as true, false, yes, t or f, it is what it seems.

import { limits } from '../../core/limits.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'

/** `texts`: the rows with each value as it is written; `columns`: those whose types nobody has declared. */
export async function columnsAsText(
  connection: Connection,
  texts: Sql,
  columns: readonly Pick<Column, 'name' | 'type'>[],
): Promise<readonly string[]> {
  const found = columns.filter(({ type }) => type === 'BOOLEAN')
  if (found.length === 0) return []
  const some = sql`(SELECT * FROM (${texts}) LIMIT ${sql.value(limits.csvSampledRows)})`
  const isCode = found.map(({ name }, i) => {
    const text = sql`trim(${sql.ident(name)})`
    return sql`bool_and(lower(${text}) = 'no') OR bool_and(${text} = 'F') OR bool_and(${text} = 'T') AS ${sql.ident(`c${i}`)}`
  })
  const row = await connection.row(sql`SELECT ${sql.join(isCode)} FROM ${some}`)
  return found.flatMap(({ name }, i) => (row?.[`c${i}`] === true ? [name] : []))
}
