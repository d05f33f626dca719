// Rows of a CSV source with more or fewer fields than its header: DuckDB then looks for another layout, and lines that do not
// fit it are gone.

import { statSync } from 'node:fs'
import { relative } from 'node:path'
import { MiB } from '../../core/byte-sizes.ts'
import { delimiterOf } from '../../core/csv-settings.ts'
import type { Column } from '../../core/relation.ts'
import type { Connection } from '../../duckdb/database.ts'
import { sql } from '../../core/sql.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { wordsFor } from '../csv/explain-fault.ts'
import { type CsvShape, fieldsOf, isDelimiter, scanCsv, topOfFile } from '../csv/scan.ts'
import { separatorOf } from '../csv/separator-line.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { dialectOfFile, type FileTable, isFile } from './rows-of-file.ts'

/** Of all files together; of rows of less than 800 bytes as many as DuckDB looks at to find the layout. */
const SCANNED_BYTES = 16 * MiB

interface Found {
  readonly connection: Connection
  readonly dir: string
  readonly table: FileTable
  /** Of this machine. */
  readonly paths: readonly string[]
  /** What DuckDB makes of all files; null: it finds no layout. */
  readonly columns: readonly Column[] | null
}

/** The first row that does not fit the header of its file, where DuckDB has not taken that header. */
export async function raggedRow(found: Found): Promise<Explanation | null> {
  const { dir, table, paths, columns } = found
  const { location, csv } = table
  if (!/\.(?:csv|tsv|txt)$/i.test(location) || csv?.header === false) return null
  if ((csv?.encoding ?? 'utf-8') !== 'utf-8' || (csv?.quote ?? '"') !== '"') return null
  const delimiter = csv?.delimiter ?? delimiterOf(location) ?? null
  if (delimiter !== null && !isDelimiter(delimiter)) return null
  let left = SCANNED_BYTES
  for (const path of paths) {
    if (left <= 0) return null
    if (!isFile(path) || separatorOf(path) !== null) continue
    const top = await topOfFile(path, delimiter)
    const how = columns === null ? layoutOf(top) : misreadAs(top, columns, table)
    if (how === null) continue
    left -= statSync(path).size
    const { shape, fault } = await scanCsv(path, delimiter, SCANNED_BYTES)
    if (fault?.is !== 'fields' || shape === null) continue
    if (top.lines[fault.line - 1]?.startsWith('#') === true) continue
    if (how === 'made-up' && !(await hasSigns(found, path, shape))) continue
    const file = relative(dir, path)
    const { problem, hint } = wordsFor(fault, shape, '')
    const skip = `if the lines above it are titles, read the file in a model: FROM read_csv('${file.replaceAll("'", "''")}', skip = ${fault.line - 1})`
    const isBelowTitle = fault.line === 2 && (fault.fields ?? 0) > shape.columns.length
    return {
      problem: `${file}:${fault.line}: ${problem}`,
      hint: how === 'titles' || isBelowTitle ? `${hint}; ${skip}` : hint,
    }
  }
  return null
}

type Top = Awaited<ReturnType<typeof topOfFile>>

const MADE_UP = /^column\d+$/

const NUMBER = /^\s*[-+]?\d/

/** A first line of one field is a title, or names the only column. */
const layoutOf = ({ header: { columns } }: Top) =>
  columns.length < 2 || columns[0]!.startsWith('#') ? null : 'none'

/** What DuckDB has taken instead of the first line; null: that line, or another one that may well be meant. */
function misreadAs(
  top: Top,
  columns: readonly Column[],
  { csv }: FileTable,
): 'none' | 'made-up' | 'one' | 'titles' | null {
  const { header, lines } = top
  const names = columns.map(({ name }) => name)
  if (layoutOf(top) === null) return null
  if (names.some((name) => MADE_UP.test(name) && !header.columns.includes(name))) return 'made-up'
  if (csv?.unionByName === true) return null
  if (names.length === 1 && names[0]!.includes(header.delimiter)) return 'one'
  const at = lines.findIndex((line) => fieldsOf(line, header).length === names.length)
  if (at === 0) return null
  // A header of numbers below one of words is a row.
  if (names.every((name) => NUMBER.test(name)) && !header.columns.some((name) => NUMBER.test(name)))
    return 'titles'
  // Titles have few fields, or not all the same number of them.
  const above = lines.slice(0, at < 0 ? undefined : at).filter((line, i) => line !== '' || i < at)
  const isTable =
    header.columns.length > 2 &&
    above.length > 1 &&
    above.every((line) => fieldsOf(line, header).length === header.columns.length)
  return isTable ? 'titles' : null
}

/** Whether the fields of a file, which may have no header, are parted and quoted as the scan takes it. */
async function hasSigns(
  { connection, table }: Found,
  path: string,
  { delimiter }: CsvShape,
): Promise<boolean> {
  const query = sql`SELECT Delimiter AS delimiter, Quote AS quote FROM ${dialectOfFile(path, table)}`
  const row = await ifRefused(connection.row(query), () => null)
  if (row === null) return true
  return row['delimiter'] === delimiter && ['"', '(empty)'].some((sign) => sign === row['quote'])
}
