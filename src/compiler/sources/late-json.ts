// Numbers of JSON that are rounded: DuckDB finds the types by the first rows, and a fraction behind whole numbers loses it.

import type { Column } from '../../core/relation.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { short } from '../csv/misread-numbers.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { type FileTable, pathOf } from './rows-of-file.ts'

const WHOLE = /\b(?:U?BIGINT|U?HUGEINT)\b/g

/** Reads all of the file, with room for fractions. */
export async function lateFraction(
  connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
): Promise<Explanation | null> {
  const found = columns.flatMap(({ name, type }) => {
    const wide = type.replaceAll(WHOLE, 'DOUBLE')
    return wide === type
      ? []
      : [{ name, whole: sql.type(type.replaceAll(WHOLE, 'HUGEINT') as Column['type']), wide }]
  })
  if (found.length === 0) return null
  const types = found.map(({ name, wide }) => sql`${sql.ident(name)}: ${sql.value(wide)}`)
  const rows = sql`read_json(${sql.value(pathOf(dir, table))}, columns = {${sql.join(types)}})`
  const each = found.map(({ name, whole, wide }, i) => {
    const value = sql.ident(name)
    // The DOUBLE of a number at the end of its type is beyond it, and says nothing of fractions.
    const rounded = sql`TRY_CAST(TRY_CAST(${value} AS ${whole}) AS ${sql.type(wide as Column['type'])})`
    return sql`min(CAST(${value} AS VARCHAR)) FILTER (WHERE ${value} <> ${rounded}) AS ${sql.ident(`v${i}`)}`
  })
  const row = await connection.row(sql`SELECT ${sql.join(each)} FROM ${rows}`)
  for (const [i, { name }] of found.entries()) {
    const value = row?.[`v${i}`]
    if (typeof value !== 'string') continue
    return {
      problem: `${table.file}: the column "${name}" has ${short(value)}, which would be rounded: its first rows have whole numbers`,
      hint: `read the file in a model, which looks at all rows: FROM read_json('${table.file}', sample_size = -1)`,
    }
  }
  return null
}
