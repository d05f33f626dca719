// Numbers of a CSV that DuckDB reads as others, and says nothing.

import type { CsvSettings } from '../../core/csv-settings.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'

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

export const short = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text)

export interface CutNumber extends MisreadNumber {
  /** One that holds it. */
  readonly type: string
}

/**
 * Numbers that the type which DuckDB finds for their column cannot hold: a long whole number and a fraction make the column
 * DOUBLE, which has 15 digits, and 1e400 is infinite there. `columns`: those whose types nobody has declared; at most one
 * number of each is returned.
 */
export async function cutNumbers(
  connection: Connection,
  texts: Sql,
  columns: readonly Pick<Column, 'name' | 'type'>[],
  { thousands, decimal = '.' }: CsvSettings = {},
): Promise<readonly CutNumber[]> {
  const guessed = columns.filter(({ type }) => type === 'DOUBLE')
  if (guessed.length === 0) return []
  const numberIn = (text: Sql) => {
    const whole =
      thousands === undefined ? text : sql`replace(${text}, ${sql.value(thousands)}, '')`
    const number = decimal === '.' ? whole : sql`replace(${whole}, ${sql.value(decimal)}, '.')`
    return sql`trim(${number})`
  }
  const numbers = guessed.map(({ name }) => numberIn(sql.ident(name)))
  // Shorter texts, which are nearly all, are exact.
  const mayBeCut = sql.any(
    guessed.map(
      ({ name }) =>
        sql`length(${sql.ident(name)}) > 15 OR contains(lower(${sql.ident(name)}), 'e')`,
    ),
  )
  const each = numbers.map((number, i) => {
    const text = sql`trim(${sql.ident(guessed[i]!.name)})`
    const exact = sql`TRY_CAST(${number} AS HUGEINT)`
    const isInfinite = sql`isinf(TRY_CAST(${number} AS DOUBLE)) AND regexp_full_match(${number}, '[-+.0-9eE]+')`
    // A double is exact up to 2^53; one step beyond that is not what was written.
    const isCut = sql`length(${number}) > 15 AND abs(trunc(TRY_CAST(${number} AS DOUBLE))) >= 9007199254740992
      AND regexp_full_match(${number}, '[-+]?[0-9]+(\\.[0-9]*)?')
      AND (${exact} IS NULL OR TRY_CAST(TRY_CAST(${number} AS DOUBLE) AS HUGEINT) IS DISTINCT FROM ${exact}
        OR contains(${number}, '.'))`
    return sql`min(${text}) FILTER (WHERE ${isInfinite}) AS ${sql.ident(`i${i}`)}, min(${text}) FILTER (WHERE ${isCut}) AS ${sql.ident(`c${i}`)}`
  })
  const row = await connection.row(sql`SELECT ${sql.join(each)} FROM (${texts}) WHERE ${mayBeCut}`)
  const isFound = (_: unknown, i: number) =>
    typeof row?.[`i${i}`] === 'string' || typeof row?.[`c${i}`] === 'string'
  if (!guessed.some(isFound)) return []
  const decimals = numbers.map(
    (number, i) =>
      sql`max(length(regexp_extract(${number}, '\\.([0-9]*)', 1))) AS ${sql.ident(`d${i}`)}`,
  )
  const digits = await connection.row(sql`SELECT ${sql.join(decimals)} FROM (${texts})`)
  return guessed.flatMap(({ name: column }, i): readonly CutNumber[] => {
    const [infinite, cut] = [row?.[`i${i}`], row?.[`c${i}`]]
    if (typeof infinite === 'string') {
      const problem = `the column "${column}" has ${short(infinite)}, which is beyond DOUBLE and would be infinite`
      return [{ column, value: infinite, problem, type: 'VARCHAR' }]
    }
    if (typeof cut !== 'string') return []
    const decimals = Math.min(numberOf(digits?.[`d${i}`] ?? 0), 18)
    const problem = `the column "${column}" has ${short(cut)} as well as fractions, so it would be DOUBLE and lose digits`
    return [{ column, value: cut, problem, type: `DECIMAL(38,${decimals})` }]
  })
}
