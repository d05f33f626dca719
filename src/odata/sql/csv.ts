// Rows as CSV by RFC 4180: names in the first line, lines end with CR LF, text is in quotes and a quote in it is doubled.
//
// NULL is nothing between two commas, an empty text is two quotes. A row of one NULL alone would be an empty line, which
// many programs skip; where the column is of a type that has no empty value, it is two quotes too. Values are written as
// they are, also those that a spreadsheet would take for a formula (`=1+1`): an apostrophe before them would be wrong
// data for every other program.

import { type Sql, sql } from '../../core/sql.ts'
import type { OutputProperty } from '../bind/bound.ts'
import { VARCHAR } from './engine-types.ts'
import { jsonTextSql } from './json-value.ts'

const LINE_END = '\r\n'

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
const quotedSql = (text: Sql) => sql`concat('"', replace(${text}, '"', '""'), '"')`

/** The first line. A value within an object is named by its path. */
export const csvHead = (output: readonly OutputProperty[]): string =>
  output.map(({ name, path }) => quoted((path ?? [name]).join('/'))).join(',') + LINE_END

/** One line per row of `rows`, whose columns are named as in `output` and have the DuckDB types of its EdmTypes. */
export function csvTextsSql(rows: Sql, output: readonly OutputProperty[]): Sql {
  const cells = output.map(cellSql)
  const [only, ...more] = output
  if (only !== undefined && more.length === 0 && !hasEmptyValue(only))
    cells[0] = sql`coalesce(${cells[0]!}, '""')`
  const separated = cells.flatMap((cell, i) => (i === 0 ? [cell] : [sql`','`, cell]))
  return sql`SELECT concat(${sql.join([...separated, sql.value(LINE_END, VARCHAR)])}) FROM (${rows}) AS page`
}

/** The same lines with the first one before them, each without the line feed at its end. */
export function csvFileSql(rows: Sql, output: readonly OutputProperty[]): Sql {
  const lines = sql`${sql.value(csvHead(output), VARCHAR)} AS line
    UNION ALL SELECT * FROM (${csvTextsSql(rows, output)})`
  return sql`SELECT left(line, -1) FROM (SELECT ${lines})`
}

const hasEmptyValue = ({ type }: OutputProperty) =>
  type.name === 'Edm.String' || type.name === 'Edm.Binary'

function cellSql({ name, type }: OutputProperty): Sql {
  const value = sql.ident('page', name)
  // The JSON of bytes is in quotes and holds none.
  if (type.name === 'Edm.Binary') return jsonTextSql(value, type)
  if (type.name === 'Edm.String')
    return sql`CASE WHEN ${value} IS NOT NULL THEN ${quotedSql(value)} END`
  if (type.kind !== 'primitive')
    return sql`CASE WHEN ${value} IS NOT NULL THEN ${quotedSql(jsonTextSql(value, type))} END`
  // JSON writes the other values as plain characters, some of them in quotes.
  return sql`replace(${jsonTextSql(value, type)}, '"', '')`
}
