// Numbers of a CSV with a sign of thousands elsewhere than DuckDB takes it for.

import type { CsvSettings } from '../../core/csv-settings.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'

/** A value, without spaces around it, that is not read as it is written. */
export interface MisreadNumber {
  readonly column: string
  readonly value: string
  readonly problem: string
}

const NUMBER = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?$|DECIMAL|DOUBLE$|FLOAT$)/

/**
 * DuckDB drops the sign of thousands wherever it stands: with "." 12.50 is 1250. `texts`: the rows with each value as it is
 * written; `columns`: with the types by which they are read.
 */
export async function misplacedThousands(
  connection: Connection,
  texts: Sql,
  columns: readonly Pick<Column, 'name' | 'type'>[],
  { thousands, decimal = '.' }: CsvSettings = {},
): Promise<MisreadNumber | null> {
  const numbers = columns.filter(({ type }) => NUMBER.test(type))
  if (thousands === undefined || numbers.length === 0) return null
  const sign = `\\x{${thousands.codePointAt(0)!.toString(16)}}`
  const grouped = `[-+]?\\d{1,3}(?:${sign}\\d{3})+(?:[${decimal}]\\d*)?(?:[eE][-+]?\\d+)?`
  const wrong = numbers.map(({ name }, i) => {
    const text = sql`trim(${sql.ident(name)})`
    const isWrong = sql`contains(${text}, ${sql.value(thousands)}) AND NOT regexp_full_match(${text}, ${sql.value(grouped)})`
    return sql`min(${text}) FILTER (WHERE ${isWrong}) AS ${sql.ident(`v${i}`)}`
  })
  const row = await connection.row(sql`SELECT ${sql.join(wrong)} FROM (${texts})`)
  const at = numbers.findIndex((_, i) => typeof row?.[`v${i}`] === 'string')
  if (at < 0) return null
  const value = row![`v${at}`] as string
  const column = numbers[at]!.name
  const read = short(value.replaceAll(thousands, ''))
  const problem = `the column "${column}" has ${short(value)}, in which "${thousands}" does not part groups of three digits, so it would be ${read}`
  return { column, value, problem }
}

export const thousandsHint = ({ thousands }: CsvSettings = {}) =>
  `write the value with groups of three digits, or leave out "thousands" if "${thousands}" begins decimals`

/** Characters of a value that a message shows. */
export const shortLength = 40

export const short = (text: string) =>
  text.length > shortLength ? `${text.slice(0, shortLength)}…` : text
