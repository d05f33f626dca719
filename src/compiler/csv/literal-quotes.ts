// Quotes of a CSV that DuckDB has taken for letters: it does so where the first rows have none, or none that is closed.

import { limits } from '../../core/limits.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { type MisreadNumber, short } from './misread-numbers.ts'

/**
 * A value that keeps a quote which was meant to enclose it. `texts`: the rows with each value as it is read; `isLetter`:
 * whether DuckDB takes quotes for letters, asked only where that matters.
 */
export async function literalQuote(
  connection: Connection,
  texts: Sql,
  columns: readonly Pick<Column, 'name' | 'type'>[],
  isLetter: () => Promise<boolean>,
): Promise<MisreadNumber | null> {
  const found = columns.filter(({ type }) => type === 'VARCHAR')
  if (found.length === 0) return null
  const some = sql`SELECT * FROM (${texts}) LIMIT ${sql.value(limits.csvSampledRows)}`
  const first = await quotesIn(connection, some, found)
  // Where the first rows have quotes of both kinds, they are letters, as in the titles of songs.
  const open = first.find(({ unclosed }) => unclosed !== null)
  if (open !== undefined)
    return (await isLetter())
      ? {
          ...open,
          value: open.unclosed!,
          problem: told(open.column, open.unclosed!, 'is never closed'),
        }
      : null
  if (first.some(({ any }) => any !== null)) return null
  const late = (await quotesIn(connection, texts, found)).find(({ any }) => any !== null)
  if (late === undefined || !(await isLetter())) return null
  const problem = told(late.column, late.any!, 'would be part of it: its first rows have none')
  return { ...late, value: late.any!, problem }
}

const told = (column: string, value: string, what: string) =>
  `the column "${column}" has ${short(value)}, whose quote ${what}`

async function quotesIn(
  connection: Connection,
  texts: Sql,
  columns: readonly Pick<Column, 'name'>[],
) {
  const each = columns.map(({ name }, i) => {
    const text = sql`trim(${sql.ident(name)})`
    const isAny = sql`starts_with(${text}, '"')`
    const isOpen = sql`${isAny} AND NOT contains(substr(${text}, 2), '"')`
    return sql`min(${text}) FILTER (WHERE ${isAny}) AS ${sql.ident(`a${i}`)}, min(${text}) FILTER (WHERE ${isOpen}) AS ${sql.ident(`o${i}`)}`
  })
  const row = await connection.row(sql`SELECT ${sql.join(each)} FROM (${texts})`)
  const textOf = (value: unknown) => (typeof value === 'string' ? value : null)
  return columns.map(({ name: column }, i) => ({
    column,
    any: textOf(row?.[`a${i}`]),
    unclosed: textOf(row?.[`o${i}`]),
  }))
}
