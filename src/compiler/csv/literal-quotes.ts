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
  const open = first.find(({ unclosed }) => unclosed !== null)
  if (open !== undefined)
    return (await isLetter())
      ? {
          ...open,
          value: open.unclosed!,
          problem: told(open.column, open.unclosed!, 'is never closed'),
        }
      : null
  // Of titles alone nobody knows from the first rows that quotes enclose what comes behind them.
  const isEnclosing = async () =>
    first.some(isEnclosed) || (await quotesIn(connection, texts, found)).some(isEnclosed)
  const early = first.find(({ goesOn }) => goesOn !== null)
  if (early !== undefined && (await isEnclosing()) && (await isLetter())) {
    const what = 'is closed before its end, and quotes enclose other values'
    return { ...early, value: early.goesOn!, problem: told(early.column, early.goesOn!, what) }
  }
  // Letters, as in the titles of songs, or marks around values.
  if (first.some(({ any }) => any !== null)) return null
  const late = (await quotesIn(connection, texts, found)).find(({ any }) => any !== null)
  if (late === undefined || !(await isLetter())) return null
  const problem = told(late.column, late.any!, 'would be part of it: its first rows have none')
  return { ...late, value: late.any!, problem }
}

const told = (column: string, value: string, what: string) =>
  `the column "${column}" has ${short(value)}, whose quote ${what}`

interface Quotes {
  readonly column: string
  /** Values that begin with a quote: any of them, and one of each of the three kinds. */
  readonly any: string | null
  readonly unclosed: string | null
  readonly enclosed: string | null
  readonly goesOn: string | null
}

const isEnclosed = ({ enclosed }: Quotes): boolean => enclosed !== null

async function quotesIn(
  connection: Connection,
  texts: Sql,
  columns: readonly Pick<Column, 'name'>[],
): Promise<readonly Quotes[]> {
  const each = columns.map(({ name }, i) => {
    const text = sql`trim(${sql.ident(name)})`
    const isAny = sql`starts_with(${text}, '"')`
    const tests = {
      a: isAny,
      o: sql`${isAny} AND NOT contains(substr(${text}, 2), '"')`,
      // Two of them are one inside.
      e: sql`regexp_full_match(${text}, '"([^"]|"")*"')`,
      g: sql`regexp_matches(${text}, '^"([^"]|"")*"[^"]')`,
    }
    const parts = Object.entries(tests).map(
      ([key, is]) => sql`min(${text}) FILTER (WHERE ${is}) AS ${sql.ident(`${key}${i}`)}`,
    )
    return sql.join(parts)
  })
  const row = await connection.row(sql`SELECT ${sql.join(each)} FROM (${texts})`)
  const textOf = (value: unknown) => (typeof value === 'string' ? value : null)
  return columns.map(({ name: column }, i) => ({
    column,
    any: textOf(row?.[`a${i}`]),
    unclosed: textOf(row?.[`o${i}`]),
    enclosed: textOf(row?.[`e${i}`]),
    goesOn: textOf(row?.[`g${i}`]),
  }))
}
