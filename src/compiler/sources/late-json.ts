// Numbers of JSON sources that are rounded: DuckDB finds the types by the first rows, and a fraction behind whole numbers
// loses it, as a long number loses digits in a column of fractions.

import { limits } from '../../core/limits.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { short } from '../csv/misread-numbers.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { lostDigits } from '../json/lost-digits.ts'
import { SourceProblem } from './problems.ts'
import { type FileTable, jsonOptionsOf, pathOf } from './rows-of-file.ts'

const WHOLE = /\b(?:U?BIGINT|U?HUGEINT)\b/g

/** Refuses numbers of the first rows; a run looks at the others. Throws SourceProblem. */
export async function refuseLostDigits(
  connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
): Promise<void> {
  const wrong = await longNumber(connection, dir, table, columns, limits.csvSampledRows)
  if (wrong !== null) throw new SourceProblem(wrong)
}

/** Reads all of the file, with room for fractions and for digits. */
export const lateNumber = async (
  connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
): Promise<Explanation | null> =>
  (await lateFraction(connection, dir, table, columns)) ??
  (await longNumber(connection, dir, table, columns))

async function longNumber(
  connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
  most?: number,
): Promise<Explanation | null> {
  const some = most === undefined ? sql.empty : sql` LIMIT ${sql.value(most)}`
  const found = await lostDigits(
    connection,
    columns,
    (types) => sql`SELECT * FROM ${jsonAs(dir, table, types)}${some}`,
  )
  if (found === null) return null
  const { column, problem, type } = found
  const types = columns.map(
    (one) => `${one.name}: '${(one.name === column ? type : one.type).replaceAll("'", "''")}'`,
  )
  const shown = types.join(', ')
  const listed = shown.length > MOST_LISTED ? `${column}: '${type}', …` : shown
  return {
    problem: `${table.file}: ${problem}`,
    hint: `read the file in a model, with all of its columns, this one as text: FROM read_json('${table.file}', columns = {${listed}})`,
  }
}

/** Letters of a list that fits into a line or two of a hint. */
const MOST_LISTED = 160

const jsonAs = (dir: string, table: FileTable, types: Sql): Sql =>
  sql`read_json(${sql.value(pathOf(dir, table))}${jsonOptionsOf(dir, table)}, columns = ${types})`

async function lateFraction(
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
  const rows = jsonAs(dir, table, sql`{${sql.join(types)}}`)
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
