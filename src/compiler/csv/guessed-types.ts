// Values of a CSV that become others by the type of their column, which DuckDB finds by its first rows alone.

import type { CsvSettings } from '../../core/csv-settings.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { type CutNumber, cutNumbers, short } from './misread-numbers.ts'

/** Rows of a file of this machine that are looked at: a few tenths of a second of each compile. */
export const CHECKED_ROWS = 500_000

interface Rule {
  /** Of guessed types. */
  readonly types: RegExp
  readonly isBent: (text: Sql, decimal: string) => Sql
  readonly becomes: string
  /** One that holds the value. */
  readonly type: string
}

const rules: readonly Rule[] = [
  {
    types: /^U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?$/,
    isBent: (text, decimal) =>
      sql`contains(${text}, ${sql.value(decimal)}) AND regexp_matches(${text}, ${sql.value(`[${decimal}]0*[1-9]`)})`,
    becomes: 'be rounded: its first rows have whole numbers',
    type: 'DOUBLE',
  },
  {
    types: /^DATE$/,
    isBent: (text) => sql`length(${text}) > 10 AND contains(${text}, ':')`,
    becomes: 'lose its time: its first rows have dates',
    type: 'TIMESTAMP',
  },
  {
    types: /^TIMESTAMP$/,
    isBent: (text) =>
      sql`length(${text}) > 19 AND regexp_full_match(${text}, '.*:[0-9.]+ *[-+][0-9]{2}(?::?[0-9]{2})?')`,
    becomes: 'lose its offset: its first rows have none',
    type: 'TIMESTAMPTZ',
  },
]

/**
 * Values that the type of their column cannot hold. `texts`: the rows with each value as it is written; `columns`: those
 * whose types nobody has declared, of each of which at most two values are returned.
 */
export async function unheldValues(
  connection: Connection,
  texts: Sql,
  columns: readonly Pick<Column, 'name' | 'type'>[],
  csv: CsvSettings = {},
): Promise<readonly CutNumber[]> {
  const cut = await cutNumbers(connection, texts, columns, csv)
  return [...cut, ...(await bentValues(connection, texts, columns, csv))]
}

async function bentValues(
  connection: Connection,
  texts: Sql,
  columns: readonly Pick<Column, 'name' | 'type'>[],
  { decimal = '.' }: CsvSettings,
): Promise<readonly CutNumber[]> {
  const guessed = columns.flatMap(({ name, type }) => {
    const rule = rules.find(({ types }) => types.test(type))
    return rule === undefined ? [] : [{ name, rule }]
  })
  if (guessed.length === 0) return []
  const each = guessed.map(({ name, rule }, i) => {
    const text = sql`trim(${sql.ident(name)})`
    return sql`min(${text}) FILTER (WHERE ${rule.isBent(text, decimal)}) AS ${sql.ident(`v${i}`)}`
  })
  const row = await connection.row(sql`SELECT ${sql.join(each)} FROM (${texts})`)
  return guessed.flatMap(({ name: column, rule: { becomes, type } }, i) => {
    const value = row?.[`v${i}`]
    if (typeof value !== 'string') return []
    return [
      {
        column,
        value,
        problem: `the column "${column}" has ${short(value)}, which would ${becomes}`,
        type,
      },
    ]
  })
}
