// Settings of a CSV file as options of read_csv, and what DuckDB would read wrongly without them.

import type { CsvSettings } from '../../core/csv-settings.ts'
import { limits } from '../../core/limits.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'

/** Each with a comma before it. */
export function csvOptions(settings: CsvSettings): Sql {
  const { nulls, header, unionByName } = settings
  const texts = [
    [sql`delim`, settings.delimiter],
    [sql`quote`, settings.quote],
    // A value in quotes has a quote doubled; without quotes nothing is special.
    [sql`escape`, settings.quote],
    [sql`decimal_separator`, settings.decimal],
    [sql`thousands`, settings.thousands],
    [sql`encoding`, settings.encoding],
    [sql`dateformat`, settings.dateFormat],
    [sql`timestampformat`, settings.timestampFormat],
  ] as const
  const options = texts.flatMap(([name, text]) =>
    text === undefined ? [] : [sql`, ${name} = ${sql.value(text)}`],
  )
  if (header !== undefined) options.push(sql`, header = ${sql.value(header)}`)
  if (unionByName === true) options.push(sql`, union_by_name = true`)
  if (nulls !== undefined) options.push(sql`, nullstr = [${sql.values(['', ...nulls])}]`)
  return sql.join(options, sql.empty)
}

/** What to write next to `csv` for numbers with commas; with one comma, nothing tells thousands from three decimals. */
export function wayOfCommas(read: {
  readonly areThousands: boolean
  readonly areDecimals: boolean
  /** 1.234,56 */
  readonly haveDots: boolean
}): string {
  const decimals = read.haveDots ? '{decimal: ",", thousands: "."}' : '{decimal: ","}'
  if (!read.areThousands) return decimals
  if (!read.areDecimals) return '{thousands: ","}'
  return `{thousands: ","} if the comma groups thousands, ${decimals} if decimals follow it`
}

/** Both readings of a date, whose parts are of one or two digits and whose year is last. */
const PARTS = String.raw`^\s*(\d{1,2})[-/. ](\d{1,2})[-/. ](?:\d{4}|\d{2})(?:\D.*)?$`

/** DuckDB takes such a year for the first part as soon as it can. */
const SHORT_YEAR = String.raw`\s*\d{1,2}[-/. ]\d{1,2}[-/. ]\d{2}(?:\D.*)?`

/** Where a row of several files is from. */
export const FILE_COLUMN = '_eider_file'

interface AmbiguousDate {
  readonly column: string
  readonly example: string
  /** Of several. */
  readonly file?: string
}

/**
 * A column of dates that all could have the day first or the month first: DuckDB takes the day, and the month as soon as a
 * value allows nothing else, so that all others change. `texts`: the same rows with each value as it is written, of several
 * files with FILE_COLUMN. `teller`: the file of several whose form DuckDB takes for those that do not tell; null: none.
 */
export async function ambiguousDate(
  connection: Connection,
  texts: Sql,
  columns: readonly Pick<Column, 'name' | 'type'>[],
  teller?: string | null,
): Promise<AmbiguousDate | null> {
  const found = columns.filter(({ type }) => /^(?:DATE$|TIMESTAMP)/.test(type))
  for (const { name } of found) {
    const text = sql.ident(name)
    const part = (group: number) =>
      sql`TRY_CAST(regexp_extract(${text}, ${sql.value(PARTS)}, ${sql.value(group)}) AS INTEGER)`
    const isSuch = sql`regexp_matches(${text}, ${sql.value(PARTS)})`
    // All values of a column of one file have one form: a few tell whether it is this one.
    const rows = teller === undefined ? texts : sql`SELECT * FROM (${texts}) WHERE ${isSuch}`
    const [first] = await connection.rows(sql`
      SELECT ${text} AS text FROM (${rows}) WHERE ${text} IS NOT NULL LIMIT 1`)
    if (first === undefined || !new RegExp(PARTS).test(textOf(first['text']))) continue
    const isShort = sql`regexp_full_match(text, ${sql.value(SHORT_YEAR)})`
    const file = teller === undefined ? sql`NULL` : sql.ident(FILE_COLUMN)
    // Of one file some rows tell; of several, each has to.
    const most = teller === undefined ? sql`LIMIT ${sql.value(limits.csvSampledRows)}` : sql.empty
    const groups = await connection.rows(sql`
      SELECT max(greatest(a, b)) <= 12 OR bool_or(${isShort}) AS both, max(a) > 12 AND max(b) <= 12 AS has_day_first,
        max(b) > 12 AS has_month_first, bool_or(${isShort}) AS is_short, file,
        coalesce(min(text) FILTER (WHERE a <> b), min(text) FILTER (WHERE ${isShort})) AS example
      FROM (SELECT ${text} AS text, ${part(1)} AS a, ${part(2)} AS b, ${file} AS file
        FROM (${rows}) ${most})
      GROUP BY ALL ORDER BY file`)
    // What DuckDB takes where a file does not tell is then right.
    const isMonthFirst = groups.some(
      (row) => row['file'] === teller && row['has_month_first'] === true,
    )
    const isToldByOthers =
      isMonthFirst ||
      (groups.some((row) => row['has_day_first'] === true) &&
        !groups.some((row) => row['has_month_first'] === true))
    const row = groups.find((one) => one['both'] === true && one['example'] !== null)
    if (row === undefined || (isToldByOthers && row['is_short'] !== true)) continue
    const where = row['file'] === null ? {} : { file: textOf(row['file']!) }
    return { column: name, example: textOf(row['example']!).trim(), ...where }
  }
  return null
}

/** What is wrong, and what to write next to `csv`. */
export function explainAmbiguous({ column, example }: { column: string; example: string }) {
  const [, a = '', b = ''] = new RegExp(PARTS).exec(example) ?? []
  const [, before = '/', after = '/', year = ''] = /^\d+(\D)\d+(\D)(\d+)/.exec(example) ?? []
  const date = (day: string, month: string) =>
    `${Number(day)} ${MONTHS[Number(month) - 1] ?? month}`
  const last = year.length === 4 ? '%Y' : '%y'
  const format = (first: string, second: string) => `"${first}${before}${second}${after}${last}"`
  const isTime = /\d\D+\d+:\d/.test(example)
  const key = isTime ? 'timestamp_format' : 'date_format'
  const time = isTime ? ' %H:%M:%S' : ''
  const both = [format('%d', '%m'), format('%m', '%d')].map((one) => one.replace(/"$/, `${time}"`))
  if (year.length === 2) {
    const yearFirst = `"%y${before}%m${after}%d${time}"`
    return {
      problem: `the column "${column}" has dates with a year of two digits, which may be first or last: ${example}`,
      hint: `say which, under csv: ${key}: ${both[0]} has the day first, ${both[1]} the month, ${yearFirst} the year`,
    }
  }
  return {
    problem: `the column "${column}" has dates that can be read both ways: ${example} is ${date(a, b)} or ${date(b, a)}`,
    hint: `say which, under csv: ${key}: ${both[0]} has the day first, ${both[1]} the month`,
  }
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
