// Values of a CSV that become others by the type of their column, which DuckDB finds by its first rows alone. What is looked
// for takes one pass over the rows.

import type { CsvSettings } from '../../core/csv-settings.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
import { type MisreadNumber, short } from './misread-numbers.ts'

/** Rows of a file of this machine that each compile looks at: a few tenths of a second. A run looks at the others. */
export const CHECKED_ROWS = 500_000

type Guessed = Pick<Column, 'name' | 'type'>

interface UnheldValue extends MisreadNumber {
  /** One that holds the value. */
  readonly type: string
}

interface Written {
  /** Without spaces around it. */
  readonly text: Sql
  /** Without signs of thousands, with a point before decimals. */
  readonly number: Sql
  /** The sign before decimals, in `text`. */
  readonly decimal: string
}

interface Rule {
  /** Of guessed types. */
  readonly types: RegExp
  readonly isBent: (written: Written) => Sql
  readonly becomes: string
  /** One that holds the value; null: that depends on all values of the column. */
  readonly type: string | null
}

const INTEGER = /^U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?$/
const DOUBLE = /^DOUBLE$/

const rules: readonly Rule[] = [
  {
    types: INTEGER,
    isBent: ({ text, decimal }) =>
      sql`contains(${text}, ${sql.value(decimal)}) AND regexp_matches(${text}, ${sql.value(`[${decimal}]0*[1-9]`)})
        OR contains(lower(${text}), 'e-')`,
    becomes: 'would be rounded: its first rows have whole numbers',
    type: 'DOUBLE',
  },
  {
    types: INTEGER,
    isBent: ({ text }) => losesZeros(text),
    becomes: 'would lose its zeros: its first rows begin with none',
    type: 'VARCHAR',
  },
  {
    types: /^DATE$/,
    isBent: ({ text }) => sql`length(${text}) > 10 AND contains(${text}, ':')`,
    becomes: 'would lose its time: its first rows have dates',
    type: 'TIMESTAMP',
  },
  {
    types: /^TIMESTAMP$/,
    isBent: ({ text }) =>
      sql`length(${text}) > 19 AND regexp_full_match(${text}, '.*:[0-9.]+ *[-+][0-9]{2}(?::?[0-9]{2})?')`,
    becomes: 'would lose its offset: its first rows have none',
    type: 'TIMESTAMPTZ',
  },
  {
    types: DOUBLE,
    // Shorter texts, which are nearly all, are finite.
    isBent: ({ number }) =>
      sql`(length(${number}) > 15 OR contains(lower(${number}), 'e')) AND isinf(TRY_CAST(${number} AS DOUBLE))
        AND regexp_full_match(${number}, '[-+.0-9eE]+')`,
    becomes: 'is beyond DOUBLE and would be infinite',
    type: 'VARCHAR',
  },
  {
    types: DOUBLE,
    isBent: ({ number }) => losesDigits(number),
    becomes: 'would lose digits',
    type: null,
  },
]

export const losesZeros = (text: Sql): Sql =>
  sql`starts_with(ltrim(${text}, '+-'), '0') AND regexp_matches(${text}, '^[-+]?0[0-9]')`

/**
 * Whether a number that is written is another one as DOUBLE. With so many decimals as are written, a double that holds the
 * number is printed as it. More than nine decimals are what divisions give, and nobody counts on the last ones.
 */
export function losesDigits(number: Sql): Sql {
  const decimals = decimalsOf(number)
  const printed = sql`printf('%.' || ${decimals} || 'f', TRY_CAST(${number} AS DOUBLE))`
  return sql`length(${number}) > 15 AND regexp_full_match(${number}, '[-+]?[0-9]+(\\.[0-9]{0,9})?')
    AND NOT isinf(TRY_CAST(${number} AS DOUBLE))
    AND ltrim(${printed}, '-0') <> ltrim(rtrim(${number}, '.'), '+-0')`
}

const decimalsOf = (number: Sql): Sql => sql`length(regexp_extract(${number}, '\\.([0-9]*)', 1))`

/**
 * Values that the type of their column cannot hold. `texts`: the rows with each value as it is written; `columns`: those
 * whose types nobody has declared. At most one value of each rule and column is returned.
 */
export async function unheldValues(
  connection: Connection,
  texts: Sql,
  columns: readonly Guessed[],
  csv: CsvSettings = {},
): Promise<readonly UnheldValue[]> {
  const asked = columns.flatMap(({ name, type }) =>
    rules
      .filter(({ types }) => types.test(type))
      .map((rule) => ({ name, rule, written: writtenIn(name, csv) })),
  )
  if (asked.length === 0) return []
  const each = asked.map(
    ({ rule, written }, i) =>
      sql`min(${written.text}) FILTER (WHERE ${rule.isBent(written)}) AS ${sql.ident(`v${i}`)}`,
  )
  const row = await connection.row(sql`SELECT ${sql.join(each)} FROM (${texts})`)
  const found: UnheldValue[] = []
  for (const [i, { name: column, rule, written }] of asked.entries()) {
    const value = row?.[`v${i}`]
    if (typeof value !== 'string') continue
    const { becomes, type } =
      rule.type === null ? await digitsOf(connection, texts, written) : { ...rule, type: rule.type }
    const problem = `the column "${column}" has ${short(value)}, which ${becomes}`
    found.push({ column, value, problem, type })
  }
  return found
}

export function writtenIn(name: string, { thousands, decimal = '.' }: CsvSettings): Written {
  const text = sql`trim(${sql.ident(name)})`
  const whole = thousands === undefined ? text : sql`replace(${text}, ${sql.value(thousands)}, '')`
  const number = decimal === '.' ? whole : sql`replace(${whole}, ${sql.value(decimal)}, '.')`
  return { text, number, decimal }
}

/** Why the column is DOUBLE, and what would hold the digits of all of its values. */
async function digitsOf(connection: Connection, texts: Sql, { number }: Written) {
  const row = await connection.row(sql`
    SELECT max(${decimalsOf(number)}) AS decimals, bool_or(regexp_matches(${number}, '[.eE]')) AS fractions,
      max(length(regexp_extract(${number}, '[0-9]+'))) AS digits
    FROM (${texts})`)
  const decimals = Math.min(numberOf(row?.['decimals'] ?? 0), 18)
  const isHeld = numberOf(row?.['digits'] ?? 0) + decimals <= 38
  const type = isHeld ? `DECIMAL(38,${decimals})` : 'VARCHAR'
  return row?.['fractions'] === true
    ? { becomes: 'would lose digits: a column with fractions is DOUBLE', type }
    : { becomes: 'would lose digits: a column with a whole number beyond BIGINT is DOUBLE', type }
}
