// Lines of a CSV source that DuckDB takes for something else: it finds out by itself how a file is laid out, and says nothing.

import { relative, resolve } from 'node:path'
import type { Column } from '../../core/relation.ts'
import { isRemote } from '../../core/sources.ts'
import { sql } from '../../core/sql.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { CHECKED_ROWS } from '../csv/guessed-types.ts'
import { short } from '../csv/misread-numbers.ts'
import { topOfFile } from '../csv/scan.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { SourceProblem } from './problems.ts'
import { type CheckedFile, dialectOfFile, isFile, rowsOfFile } from './rows-of-file.ts'

/** A header that DuckDB takes for a row, for a title, or as a whole for one column. */
export async function refuseLostHeader(file: FoundColumns): Promise<void> {
  const wrong = await lostHeader(file)
  if (wrong !== null) throw new SourceProblem(wrong)
}

type FoundColumns = Pick<CheckedFile, 'dir' | 'table' | 'columns'>

/** null: it is not lost, or the table says itself how the file is laid out. */
export async function lostHeader({
  dir,
  table: { location, csv },
  columns,
}: FoundColumns): Promise<Explanation | null> {
  if (isRemote(location) || csv?.delimiter !== undefined || csv?.header !== undefined) return null
  const path = resolve(dir, location)
  if (!/\.(?:csv|tsv)$/i.test(location) || !isFile(path)) return null
  const top = await topOfFile(path)
  return (
    otherFields(top, columns) ??
    namesAsRow(top, columns) ??
    namesAlone(top, columns) ??
    nameAsTitle(top, columns)
  )
}

type Top = Awaited<ReturnType<typeof topOfFile>>

const isMadeUp = ({ name }: Column, i: number) => name === `column${i}`

const list = (names: readonly string[]) => names.slice(0, 10).join(', ')

/** Rows have more fields than the header. */
function otherFields({ header }: Top, columns: readonly Column[]): Explanation | null {
  const names = columns.map(({ name }) => name)
  const isOne = names.length === 1 && names[0]!.includes(header.delimiter)
  const isLost = columns.every(isMadeUp) && header.columns.length > 1
  if (header.columns.length === names.length || header.columns[0]!.startsWith('#')) return null
  if (!isOne && !isLost) return null
  return {
    problem: `its header has ${header.columns.length} columns (${list(header.columns)}), and its rows do not, so DuckDB reads ${list(names)}`,
    hint: `give each row as many fields as the header has, and put a value that contains "${header.delimiter}" in quotes`,
  }
}

const YEAR = /^(?:19|20)\d\d$/

/** Years beside names, or one after the other, are what columns are named after, unless the next line has years there, too. */
function namesAsRow({ header, second }: Top, columns: readonly Column[]): Explanation | null {
  const names = header.columns
  if (!columns.every(isMadeUp) || names.length !== columns.length) return null
  const years = [...names.entries()].filter(([, name]) => YEAR.test(name))
  const isHeader =
    years.length > 0 &&
    (years.length < names.length || areInTurn(names)) &&
    names.every((name) => YEAR.test(name) || /^[^\d]+$/.test(name)) &&
    years.some(([i]) => !YEAR.test(second[i] ?? '')) &&
    new Set(names).size === names.length
  return isHeader ? takenForRow('its first line', names, columns) : null
}

/** The only line of a file that waits for rows: DuckDB takes a name such as `t` for a value, which is true. */
function namesAlone({ header, lines }: Top, columns: readonly Column[]): Explanation | null {
  const names = header.columns
  if (!columns.every(isMadeUp) || names.length !== columns.length) return null
  const isHeader =
    names.length > 1 &&
    lines.slice(1).every((line) => line === '') &&
    names.every((name) => /^[\p{L}_][\p{L}\d_ .-]*$/u.test(name)) &&
    new Set(names).size === names.length
  return isHeader ? takenForRow('its only line', names, columns) : null
}

const takenForRow = (line: string, names: readonly string[], columns: readonly Column[]) => ({
  problem: `${line} (${list(names)}) seems to be a header, and DuckDB reads it as a row of ${list(columns.map(({ name }) => name))}`,
  hint: 'write at the table "csv: {header: true}"; "csv: {header: false}" if it is a row',
})

function areInTurn(years: readonly string[]): boolean {
  const steps = years.slice(1).map((year, i) => Number(year) - Number(years[i]))
  return steps.length > 0 && Math.abs(steps[0]!) === 1 && steps.every((step) => step === steps[0])
}

/** One name over lines of text that have commas as sentences do, and no other lines. */
function nameAsTitle({ header, lines }: Top, columns: readonly Column[]): Explanation | null {
  const [title = ''] = header.columns
  if (header.columns.length !== 1 || !/^[a-z_][a-z_0-9]*$/.test(title)) return null
  if (columns.length < 2 || columns.some(({ type }) => type !== 'VARCHAR')) return null
  const rows = lines.slice(1).filter((line) => line !== '')
  if (!rows.every((line) => /^[^,"]*[^,"\s](?:, [^,"\s][^,"]*)+$/.test(line))) return null
  return {
    problem: `its header has one column (${title}), and its rows have commas, so DuckDB reads ${list(columns.map(({ name }) => name))}`,
    hint: `put a value that contains "," in quotes, or write at the table "csv: {delimiter: ';'}", if each line is one value; "csv: {header: true}" if the first line is a title`,
  }
}

/** Lines that would be rows if their first sign were not that of a comment. */
export async function refuseLostLines(checked: CheckedFile): Promise<void> {
  const { dir, table, paths } = checked
  const [path] = paths
  if (path === undefined) return
  // What is wrong with the file itself, other checks and the models say.
  const value = await ifRefused(lostLine(checked, path), () => null)
  if (value === null) return
  const file = relative(dir, path)
  throw new SourceProblem({
    problem: `${table.file}: the line that begins with ${short(value)} would be left out as a comment, though it has as many fields as the others`,
    hint: `remove it if it is a comment; if it is a row, read the file in a model: FROM read_csv('${file}', comment = '')`,
  })
}

/** The first value of such a line. */
async function lostLine(
  { connection, dir, table, columns }: CheckedFile,
  path: string,
): Promise<string | null> {
  const dialect = await connection.row(
    sql`SELECT Comment AS comment FROM ${dialectOfFile(path, table)}`,
  )
  const sign = dialect?.['comment']
  if (typeof sign !== 'string' || sign.length !== 1) return null
  const rows = sql`SELECT * FROM ${rowsOfFile(dir, table, { isRaw: true, hasNoComments: true })}`
  const read = await connection.columnsOf(rows)
  if (read.map(({ name }) => name).join('\n') !== columns.map(({ name }) => name).join('\n'))
    return null
  const first = sql.ident(columns[0]!.name)
  const lost = await connection.row(sql`
    SELECT ${first} AS value FROM (${rows} LIMIT ${sql.value(CHECKED_ROWS)})
    WHERE starts_with(${first}, ${sql.value(sign)}) LIMIT 1`)
  const value = lost?.['value']
  return typeof value === 'string' ? value : null
}
