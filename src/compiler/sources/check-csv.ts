// What DuckDB would read of a CSV source as something that nobody wrote: it is refused, or said.

import { statSync } from 'node:fs'
import { relative } from 'node:path'
import { GiB } from '../../core/byte-sizes.ts'
import { count } from '../../core/counts.ts'
import { diagnostic } from '../../core/diagnostics.ts'
import { limits } from '../../core/limits.ts'
import { sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { isRemote } from '../../core/sources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'
import { CHECKED_ROWS, type UnheldValue, unheldValues } from '../csv/guessed-types.ts'
import { BLANK_HINT, blankLines } from '../csv/line-ends.ts'
import { literalQuote } from '../csv/literal-quotes.ts'
import { type MisreadNumber, misplacedThousands, thousandsHint } from '../csv/misread-numbers.ts'
import { numbersWithCommas } from '../csv/numbers-with-commas.ts'
import { ambiguousDate, explainAmbiguous } from '../csv/options.ts'
import { isUtf8File } from '../csv/utf-8.ts'
import { headerOfFile } from '../csv/scan.ts'
import { refuseLostHeader, refuseLostLines } from './lost-lines.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { emptyFile, notUtf8, otherColumns, refuseOtherEncoding, SourceProblem } from './problems.ts'
import {
  ALL_TEXTS,
  dialectOfFile,
  filesOfPattern,
  type FileTable,
  isFile,
  pathOf,
  rowsOfFile,
} from './rows-of-file.ts'
import type { SourceWarning } from './source-access.ts'

export async function checkCsv(
  connection: Connection,
  dir: string,
  file: FileTable,
  columns: readonly Column[],
): Promise<readonly SourceWarning[]> {
  await refuseUnreadable(connection, dir, file)
  if (file.csv?.delimiter === undefined && file.csv?.header === undefined)
    await refuseLostHeader(dir, file, columns)
  await refuseLostLines(connection, dir, file, columns)
  await refuseOtherColumns(connection, dir, file, columns)
  const texts = sql`SELECT * FROM ${rowsOfFile(dir, file, ALL_TEXTS)}`
  await refuseAmbiguousDates(connection, file, columns, texts)
  await refuseMisread(connection, dir, file, columns, texts)
  return warningsOf(connection, dir, file, columns, texts)
}

/** What each compile looks at of a file of this machine; `CHECKED_ROWS` of more than 2 kB are longer. */
const CHECKED_BYTES = GiB

/** Before any rows are read: one that is not UTF-8 may end the engine. */
export async function refuseOtherBytes(
  connection: Connection,
  dir: string,
  table: FileTable,
): Promise<void> {
  const wrong = await otherBytes(connection, dir, table, CHECKED_BYTES)
  if (wrong !== null) throw new SourceProblem(wrong)
}

async function otherBytes(
  connection: Connection,
  dir: string,
  table: FileTable,
  most?: number,
): Promise<Explanation | null> {
  const { location, csv } = table
  if (isRemote(location) || (csv?.encoding ?? 'utf-8') !== 'utf-8') return null
  for (const path of await filesOfPattern(connection, pathOf(dir, table))) {
    if (isPacked(path) || !isFile(path) || (await isUtf8File(path, most))) continue
    return notUtf8(relative(dir, path), dir)
  }
  return null
}

const isPacked = (path: string) => /\.(?:gz|zst)$/i.test(path)

/** Where DuckDB makes up columns of a file, or of all, from one of them that is empty or encoded in another way. */
async function refuseUnreadable(
  connection: Connection,
  dir: string,
  table: FileTable,
): Promise<void> {
  const { location, csv } = table
  if (isRemote(location) || !/\.(?:csv|tsv|txt)$/i.test(location)) return
  for (const path of await filesOfPattern(connection, pathOf(dir, table))) {
    const file = relative(dir, path)
    if (statSync(path).size === 0) {
      if (csv?.header !== false) throw new SourceProblem(emptyFile(file))
    } else if (csv?.encoding === 'utf-16') refuseOtherEncoding(path, file)
  }
}

async function refuseMisread(
  connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
  texts: Sql,
): Promise<void> {
  const number = await misplacedThousands(connection, texts, columns, table.csv)
  if (number !== null) {
    const file = await fileWith(connection, dir, table, number)
    const hint = thousandsHint(table.csv)
    throw new SourceProblem({ problem: `${file}: ${number.problem}`, hint })
  }
  const rows = isRemote(table.location) ? limits.csvSampledRows : CHECKED_ROWS
  const some = sql`SELECT * FROM (${texts}) LIMIT ${sql.value(rows)}`
  const guessed = undeclared(table, columns)
  const [unheld] = await unheldValues(connection, some, guessed, table.csv)
  if (unheld !== undefined)
    throw new SourceProblem(await explainUnheld(connection, dir, table, unheld))
  const quote = await explainQuote(connection, dir, table, some, columns)
  if (quote !== null) throw new SourceProblem(quote)
}

async function explainQuote(
  connection: Connection,
  dir: string,
  table: FileTable,
  texts: Sql,
  columns: readonly Column[],
): Promise<Explanation | null> {
  if (table.csv?.quote !== undefined) return null
  const isLetter = async () => {
    const [path] = await filesOfPattern(connection, pathOf(dir, table))
    if (path === undefined) return false
    const row = await connection.row(sql`SELECT Quote AS quote FROM ${dialectOfFile(path, table)}`)
    return row?.['quote'] === '(empty)'
  }
  const found = await literalQuote(connection, texts, columns, isLetter)
  if (found === null) return null
  const file = await fileWith(connection, dir, table, found)
  const hint = `write at the table "csv: {quote: '"'}" if quotes enclose values, and close each; "csv: {quote: ''}" if they are letters`
  return { problem: `${file}: ${found.problem}`, hint }
}

/**
 * What no compile has looked at, since it looks at the first rows alone: a value of any row that the type of its column
 * cannot hold. Reads all of the file, unless a compile has.
 */
export async function lateValue(
  connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
): Promise<Explanation | null> {
  const wrong = await otherBytes(connection, dir, table)
  if (wrong !== null || (await isShort(connection, dir, table))) return wrong
  const texts = sql`SELECT * FROM ${rowsOfFile(dir, table, ALL_TEXTS)}`
  const [found] = await unheldValues(connection, texts, undeclared(table, columns), table.csv)
  if (found !== undefined) return explainUnheld(connection, dir, table, found)
  return explainQuote(connection, dir, table, texts, columns)
}

/** A row has a byte and the end of its line. */
async function isShort(connection: Connection, dir: string, table: FileTable): Promise<boolean> {
  if (isRemote(table.location) || isPacked(table.location)) return false
  const files = await filesOfPattern(connection, pathOf(dir, table))
  return files.reduce((bytes, path) => bytes + statSync(path).size, 0) < CHECKED_ROWS * 2
}

async function explainUnheld(
  connection: Connection,
  dir: string,
  table: FileTable,
  unheld: UnheldValue,
): Promise<Explanation> {
  const file = await fileWith(connection, dir, table, unheld)
  const hint = `declare its type under columns of the table: ${unheld.column}: ${unheld.type}`
  return { problem: `${file}: ${unheld.problem}`, hint }
}

export const undeclared = ({ columns: declared }: FileTable, columns: readonly Column[]) =>
  columns.filter(({ name }) => ![...(declared?.keys() ?? [])].some((one) => sameName(one, name)))

async function warningsOf(
  connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
  texts: Sql,
): Promise<readonly SourceWarning[]> {
  const guessed = undeclared(table, columns)
  const commas = await numbersWithCommas(connection, texts, guessed, table.csv)
  const found = commas.map(({ column, example, way }): SourceWarning => {
    return (at) =>
      diagnostic('decimal-comma', { column, example }, at, `write at the table: csv: ${way}`)
  })
  const { location } = table
  if (columns.length !== 1 || isRemote(location) || !/\.(?:csv|tsv|txt)$/i.test(location))
    return found
  for (const path of await filesOfPattern(connection, pathOf(dir, table))) {
    const lines = await blankLines(path, table.csv?.quote)
    if (lines === 0) continue
    const said = `${relative(dir, path)}: ${count(lines, 'blank line')}`
    found.push((at) => diagnostic('blank-rows', { lines: said }, at, BLANK_HINT))
  }
  return found
}

/** The file of a pattern that has the value; a column of the same name hides that of the engine. */
async function fileWith(
  connection: Connection,
  dir: string,
  table: FileTable,
  { column, value }: MisreadNumber,
): Promise<string> {
  if (isRemote(table.location)) return table.file
  const row = await connection.row(sql`
    SELECT filename FROM ${rowsOfFile(dir, table, ALL_TEXTS)}
    WHERE trim(${sql.ident(column)}) = ${sql.value(value)} LIMIT 1`)
  const path = textOf(row?.['filename'] ?? '')
  return isFile(path) ? relative(dir, path) : table.file
}

/** A date that is read as another one when a later row arrives is refused until it is said which one it is. */
async function refuseAmbiguousDates(
  connection: Connection,
  { csv }: FileTable,
  columns: readonly Column[],
  texts: Sql,
): Promise<void> {
  if (csv?.dateFormat !== undefined || csv?.timestampFormat !== undefined) return
  const found = await ambiguousDate(connection, texts, columns)
  if (found !== null) throw new SourceProblem(explainAmbiguous(found))
}

/**
 * DuckDB takes the columns of the first file that a pattern finds, and leaves out what other files have besides, without a
 * word. Of a column that one lacks it speaks itself, and names no file of the project.
 */
async function refuseOtherColumns(
  connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
): Promise<void> {
  const { location, csv } = table
  if (isRemote(location) || csv?.unionByName === true || !/\.(?:csv|tsv)$/i.test(location)) return
  const [first, ...others] = await filesOfPattern(connection, pathOf(dir, table))
  if (first === undefined || others.length === 0) return
  const namesOf = async (path: string) => (await headerOfFile(path)).columns
  const names = await namesOf(first)
  // Where DuckDB has found its names elsewhere, the first line is no header.
  if (!columns.every(({ name }, i) => name === names[i])) return
  for (const file of others) {
    const own = await namesOf(file)
    const added = own.find((name) => !names.includes(name))
    const missing = names.find((name) => !own.includes(name))
    if (added === undefined && missing === undefined) continue
    throw new SourceProblem(
      otherColumns(relative(dir, first), relative(dir, file), { added, missing }),
    )
  }
}
