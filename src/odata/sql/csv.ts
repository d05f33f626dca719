// Rows as CSV by RFC 4180: names in the first line, lines end with CR LF, text is in quotes and a quote in it is doubled.
//
// NULL is nothing between two commas, an empty text is two quotes. A row of one NULL alone would be an empty line, which
// many programs skip; where the column is of a type that has no empty value, it is two quotes too. Values are written as
// they are, also those that a spreadsheet would take for a formula (`=1+1`): an apostrophe before them would be wrong
// data for every other program.

import { type Sql, sql } from '../../core/sql.ts'
import type { OutputProperty } from '../bind/bound-request.ts'
import { isGeoName } from '../edm/geo.ts'
import type { EdmType, PrimitiveType } from '../edm/types.ts'
import { VARCHAR, type WrittenFile } from './engine-types.ts'
import { placeTextSql } from './geo.ts'
import { isStored } from './json.ts'
import { asDigits, floatTextSql, jsonTextSql, unlessNull } from './json-value.ts'

const LINE_END = '\r\n'

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`

/** The first line. A value within an object is named by its path. */
export const csvHead = (output: readonly OutputProperty[]): string =>
  output.map(({ name, path }) => quoted((path ?? [name]).join('/'))).join(',') + LINE_END

/** One line per row of `rows`, whose columns are named as in `output` and have the DuckDB types of its EdmTypes. */
export function csvTextsSql(rows: Sql, output: readonly OutputProperty[]): Sql {
  const [only, ...more] = output
  const parts = output.flatMap((property, i) => cellParts(property, i === 0 ? '' : ','))
  if (only !== undefined && more.length === 0 && !hasEmptyValue(only))
    parts.push(sql`CASE WHEN ${sql.ident('page', only.name)} IS NULL THEN '""' END`)
  return sql`SELECT concat(${sql.join([...parts, sql.value(LINE_END, VARCHAR)])}) FROM (${rows}) AS page`
}

/** The same lines as a file with the first one before them. */
export function csvFile(rows: Sql, output: readonly OutputProperty[]): WrittenFile {
  const lines = sql`${sql.value(csvHead(output), VARCHAR)} AS line
    UNION ALL SELECT * FROM (${csvTextsSql(rows, output)})`
  // The writer ends each line with the line feed that is cut off here.
  return { ...linesFile(sql`SELECT left(line, -1) FROM (SELECT ${lines})`), heads: 1 }
}

/** The texts of the only column of `rows`, as they are, each with a line feed after it. */
export const linesFile = (rows: Sql): WrittenFile => ({
  rows,
  options: sql`FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER ${sql.value('\u0001')}`,
  heads: 0,
})

const hasEmptyValue = ({ type }: OutputProperty) =>
  type.name === 'Edm.String' || type.name === 'Edm.Binary'

/**
 * A value with `before` before it, as parts of the text of its line: a separate text for each value, to be copied into
 * that of the line, takes longer than all else of writing it. What is the same in many rows DuckDB has once for them.
 */
function cellParts({ name, type, value: shown }: OutputProperty, before: ',' | ''): readonly Sql[] {
  const value = sql.ident('page', name)
  if (type.name === 'Edm.String') return textParts(value, before)
  if (isGeoName(type.name)) return textParts(placeTextSql(value), before)
  const separator = before === '' ? [] : [sql.value(before)]
  if (type.kind !== 'primitive') {
    const text = sql`concat('"', replace(${jsonTextSql(value, type)}, '"', '""'), '"')`
    return [...separator, unlessNull(value, text)]
  }
  return [...separator, ...plainParts(value, type, isStored(shown))]
}

/** To look for a quote takes a third of the time that it takes to replace none. */
const textParts = (value: Sql, before: string) => [
  sql`CASE WHEN ${value} IS NULL THEN ${sql.value(before)} ELSE ${sql.value(`${before}"`)} END`,
  sql`CASE WHEN contains(${value}, '"') THEN replace(${value}, '"', '""') ELSE ${value} END`,
  unlessNull(value, sql`'"'`),
]

/** The same text as in JSON, without the quotes that some of them have there. */
function plainParts(value: Sql, type: PrimitiveType, isStored: boolean): readonly Sql[] {
  switch (type.name) {
    case 'Edm.Double':
    case 'Edm.Single':
      return [floatTextSql(value, type, '')]
    case 'Edm.Date':
    case 'Edm.TimeOfDay':
      return [isStored ? asDigits(value) : withoutQuotes(value, type)]
    case 'Edm.DateTimeOffset':
      return isStored ? instantParts(value) : [withoutQuotes(value, type)]
    case 'Edm.Duration':
      return [withoutQuotes(value, type)]
    case 'Edm.Guid':
      return [asDigits(value)]
    default:
      // The JSON of bytes is in quotes and holds none; that of the others has none.
      return [jsonTextSql(value, type)]
  }
}

const instantParts = (value: Sql) => [
  sql`CAST(${value} AS DATE)`,
  unlessNull(value, sql`'T'`),
  sql`CAST(${value} AS TIME)`,
  unlessNull(value, sql`'Z'`),
]

const withoutQuotes = (value: Sql, type: EdmType) =>
  sql`replace(${jsonTextSql(value, type)}, '"', '')`
