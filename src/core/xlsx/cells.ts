// The rows of a sheet of Excel, each as the XML that DuckDB prints of it.
//
// Excel keeps 15 digits of a number, and dates from March 1900 on: what is beyond is a text with all digits. A text is never
// a formula, which would be another element. One that begins like a formula has a format that keeps it a text also when
// somebody edits the cell.

import { columnType } from '../relation.ts'
import { type Sql, sql } from '../sql.ts'
import { looksLikeFormula, sheetText } from './texts.ts'

/** What a cell holds. A moment is one in UTC. A long integer may have more digits than Excel keeps. */
export type CellType =
  | { readonly kind: 'boolean' | 'integer' | 'float' | 'date' | 'time' | 'moment' | 'text' }
  | { readonly kind: 'long-integer' }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }

export interface SheetColumn {
  readonly name: string
  readonly type: CellType
  /** A column of `page`, in a type of DuckDB of that kind. */
  readonly value: Sql
}

/** What Excel has room for. The names are one of the rows. */
export const sheetRoom = { rows: 1_048_576, columns: 16_384 }

/** The digits of a number that Excel keeps. */
const DIGITS = 15

/** The places of formats of cells in the styles of a workbook. Those of decimals follow, one for each scale. */
export const cellFormats = { head: 1, integer: 2, date: 3, moment: 4, time: 5, text: 6, decimal: 7 }

/** The scales of the decimals, in the order of their formats. */
export const scalesOf = (columns: readonly SheetColumn[]): readonly number[] =>
  [...new Set(columns.flatMap(({ type }) => (type.kind === 'decimal' ? [type.scale] : [])))].sort(
    (a, b) => a - b,
  )

/** One text for each of `rows`, below the row of the names. */
export function sheetRowsSql(columns: readonly SheetColumn[], rows: Sql): Sql {
  const taken = new Set(columns.map(({ name }) => name.toLowerCase()))
  let name = 'row of the sheet'
  while (taken.has(name)) name += '_'
  const row = sql.ident(name)
  const scales = scalesOf(columns)
  const cells = columns.map(({ type, value }, i) => {
    const place = sql`${sql.value(`<c r="${columnLetters(i)}`)}, ${row}`
    return cellSql(value, contentOf(type, value, scales), place)
  })
  return sql`SELECT concat('<row r="', ${row}, '">', ${sql.join([...cells, sql`'</row>'`])})
    FROM (SELECT row_number() OVER () + 1 AS ${row}, * FROM (${rows})) AS page`
}

/** A, B, …, Z, AA, … */
export function columnLetters(i: number): string {
  const before = i < 26 ? '' : columnLetters(Math.floor(i / 26) - 1)
  return before + String.fromCodePoint(65 + (i % 26))
}

interface Content {
  /** Attributes of the cell; null: it is a text in all rows. */
  readonly attributes: string | null
  /** What stands in the cell where it is no text. */
  readonly content: Sql
  /** Where it is none; null: in all rows. */
  readonly holds?: Sql
  readonly text?: Sql
}

/** NULL for NULL: there is no cell. */
function cellSql(value: Sql, { attributes, content, holds, text }: Content, place: Sql): Sql {
  const textCell = (format: Sql, written: Sql) =>
    sql`concat(${place}, ${format}, ' t="inlineStr"><is><t xml:space="preserve">', ${written}, '</t></is></c>')`
  const kept = sql.value(`" s="${cellFormats.text}"`)
  if (attributes === null) {
    const format = sql`CASE WHEN ${looksLikeFormula(value)} THEN ${kept} ELSE '"' END`
    return sql`CASE WHEN ${value} IS NOT NULL THEN ${textCell(format, content)} END`
  }
  const cell = sql`concat(${place}, ${sql.value(`"${attributes}><v>`)}, ${content}, '</v></c>')`
  if (holds === undefined) return sql`CASE WHEN ${value} IS NOT NULL THEN ${cell} END`
  const other = textCell(kept, text ?? asText(value))
  return sql`CASE WHEN ${holds} THEN ${cell} WHEN ${value} IS NOT NULL THEN ${other} END`
}

function contentOf(type: CellType, value: Sql, scales: readonly number[]): Content {
  const format = (place: number) => ` s="${place}"`
  const digits = asText(value)
  switch (type.kind) {
    case 'text':
      return { attributes: null, content: sheetText(value) }
    case 'boolean':
      return { attributes: ' t="b"', content: sql`CASE WHEN ${value} THEN '1' ELSE '0' END` }
    case 'integer':
      return { attributes: format(cellFormats.integer), content: digits }
    case 'long-integer':
      return {
        attributes: format(cellFormats.integer),
        content: digits,
        holds: hasFewDigits(digits),
      }
    case 'decimal': {
      const attributes = format(cellFormats.decimal + scales.indexOf(type.scale))
      const holds = type.precision > DIGITS ? { holds: hasFewDigits(digits) } : {}
      return { attributes, content: digits, ...holds }
    }
    case 'float': {
      const text = sql`CASE WHEN isnan(${value}) THEN 'NaN' WHEN ${value} > 0 THEN 'INF' ELSE '-INF' END`
      return { attributes: '', content: digits, holds: sql`isfinite(${value})`, text }
    }
    case 'date': {
      const holds = sql`${value} BETWEEN DATE '1900-03-01' AND DATE '9999-12-31'`
      const content = sql`${value} - DATE '1899-12-30'`
      return { attributes: format(cellFormats.date), content, holds }
    }
    case 'time':
      return { attributes: format(cellFormats.time), content: daysOf(value) }
    case 'moment': {
      // Later ones are rounded to a day that Excel does not have.
      const holds = sql`${value} BETWEEN TIMESTAMP '1900-03-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999'`
      // 1970 begins so many days after the one from which Excel counts.
      const content = sql`${daysOf(value)} + 25569`
      return { attributes: format(cellFormats.moment), content, holds }
    }
  }
}

const asText = (value: Sql) => sql`CAST(${value} AS ${sql.type(columnType('VARCHAR'))})`

const daysOf = (value: Sql) => sql`epoch_us(${value}) / 86400000000.0`

/** Zeros at either end are none of the digits that count. */
const hasFewDigits = (text: Sql) => {
  const most = sql.value(DIGITS)
  return sql`(strlen(${text}) <= ${most}
    OR strlen(ltrim(replace(replace(rtrim(${text}, '0'), '.', ''), '-', ''), '0')) <= ${most})`
}
