// What DuckDB would read of a CSV source as something that nobody wrote: it is refused, or said.

import { statSync } from 'node:fs'
import { relative } from 'node:path'
import { GiB } from '../../core/byte-sizes.ts'
import { grouped } from '../../core/counts.ts'
import { diagnostic } from '../../core/diagnostics.ts'
import { limits } from '../../core/limits.ts'
import { sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { isRemote } from '../../core/sources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { textOf } from '../../duckdb/values.ts'
import { CHECKED_ROWS, unheldValues } from '../csv/guessed-types.ts'
import { BLANK_HINT, blankLines, blankProblem } from '../csv/line-ends.ts'
import { literalQuote } from '../csv/literal-quotes.ts'
import { type MisreadNumber, misplacedThousands, thousandsHint } from '../csv/misread-numbers.ts'
import { hintOfWords, numbersWithWords } from '../csv/null-words.ts'
import { numbersWithCommas } from '../csv/numbers-with-commas.ts'
import { ambiguousDate, explainAmbiguous, FILE_COLUMN } from '../csv/options.ts'
import { REPEATED_HINT, repeatedNames } from '../csv/repeated-names.ts'
import { separatorOf } from '../csv/separator-line.ts'
import { isUtf8File } from '../csv/utf-8.ts'
import { leakingZone, zoneHint } from '../csv/zone-names.ts'
import { headerOfFile } from '../csv/scan.ts'
import { refuseLostHeader, refuseLostLines } from './lost-lines.ts'
import { raggedRow } from './ragged-rows.ts'
import type { Explanation } from '../hints/engine-words.ts'
import {
  emptyFile,
  noHeader,
  notUtf8,
  otherColumns,
  otherOrder,
  refuseOtherEncoding,
  SourceProblem,
} from './problems.ts'
import {
  ALL_TEXTS,
  type CheckedFile,
  dialectOfFile,
  type FileTable,
  isFile,
  isPacked,
  pathsOf,
  rowsOfFile,
} from './rows-of-file.ts'
import type { SourceWarning } from './source-access.ts'

export async function checkCsv(
  connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
): Promise<readonly SourceWarning[]> {
  const file = await openFile(connection, dir, table, columns)
  refuseUnreadable(file)
  const ragged = await raggedRow(file)
  if (ragged !== null) throw new SourceProblem(ragged)
  if (!file.paths.some((path) => separatorOf(path) !== null)) await refuseLostHeader(file)
  await refuseLostLines(file)
  await refuseOtherColumns(file)
  await refuseAmbiguousDates(file)
  await refuseMisread(file)
  return warningsOf(file)
}

async function openFile(
  connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
): Promise<CheckedFile> {
  const paths = isRemote(table.location) ? [] : await pathsOf(connection, dir, table)
  const texts = sql`SELECT * FROM ${rowsOfFile(dir, table, ALL_TEXTS)}`
  return { connection, dir, table, columns, paths, texts }
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
  for (const path of await pathsOf(connection, dir, table)) {
    if (isPacked(path) || !isFile(path) || (await isUtf8File(path, most))) continue
    return notUtf8(relative(dir, path), dir)
  }
  return null
}

const isPlainText = (path: string) => /\.(?:csv|tsv|txt)$/i.test(path)

/** Where DuckDB makes up columns of a file, or of all, from one of them that is empty or encoded in another way. */
function refuseUnreadable({ dir, table: { location, csv }, paths }: CheckedFile): void {
  if (!isPlainText(location)) return
  for (const path of paths) {
    const file = relative(dir, path)
    if (statSync(path).size === 0) {
      if (csv?.header !== false) throw new SourceProblem(emptyFile(file))
    } else if (csv?.encoding === 'utf-16') refuseOtherEncoding(path, file)
  }
}

async function refuseMisread(file: CheckedFile): Promise<void> {
  const { connection, table, columns, texts } = file
  const number = await misplacedThousands(connection, texts, columns, table.csv)
  if (number !== null) {
    const hint = thousandsHint(table.csv)
    throw new SourceProblem({ problem: await problemWith(file, number), hint })
  }
  const rows = isRemote(table.location) ? limits.csvSampledRows : CHECKED_ROWS
  const some = sql`SELECT * FROM (${texts}) LIMIT ${sql.value(rows)}`
  const bent = await bentValue(file, some)
  if (bent !== null) throw new SourceProblem(bent)
}

/** The first one that is found in `rows`, which are all or some of the file. */
async function bentValue(file: CheckedFile, rows: Sql): Promise<Explanation | null> {
  const { connection, table, columns } = file
  const zone = await leakingZone(connection, rows, columns)
  if (zone !== null) return { problem: await problemWith(file, zone), hint: zoneHint(zone.column) }
  const [unheld] = await unheldValues(connection, rows, undeclared(table, columns), table.csv)
  if (unheld === undefined) return explainQuote(file, rows)
  const hint = `declare its type under columns of the table: ${unheld.column}: ${unheld.type}`
  return { problem: await problemWith(file, unheld), hint }
}

async function explainQuote(file: CheckedFile, rows: Sql): Promise<Explanation | null> {
  const { connection, dir, table, columns } = file
  if (table.csv?.quote !== undefined) return null
  const isLetter = async () => {
    const [path] = isRemote(table.location) ? await pathsOf(connection, dir, table) : file.paths
    if (path === undefined) return false
    const row = await connection.row(sql`SELECT Quote AS quote FROM ${dialectOfFile(path, table)}`)
    return row?.['quote'] === '(empty)'
  }
  const found = await literalQuote(connection, rows, columns, isLetter)
  if (found === null) return null
  const hint = `write at the table "csv: {quote: '"'}" if quotes enclose values, and close each; "csv: {quote: ''}" if they are letters`
  return { problem: await problemWith(file, found), hint }
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
  if (wrong !== null) return wrong
  const file = await openFile(connection, dir, table, columns)
  if (isShort(file)) return null
  const date = file.paths.length > 1 ? await eitherDate(file, null) : null
  return date ?? bentValue(file, file.texts)
}

/** A row has a byte and the end of its line. */
function isShort({ table: { location }, paths }: CheckedFile): boolean {
  if (isRemote(location) || isPacked(location)) return false
  return paths.reduce((bytes, path) => bytes + statSync(path).size, 0) < CHECKED_ROWS * 2
}

export const undeclared = ({ columns: declared }: FileTable, columns: readonly Column[]) =>
  columns.filter(({ name }) => ![...(declared?.keys() ?? [])].some((one) => sameName(one, name)))

async function warningsOf(file: CheckedFile): Promise<readonly SourceWarning[]> {
  const { connection, dir, table, columns, paths, texts } = file
  const guessed = undeclared(table, columns)
  const commas = await numbersWithCommas(connection, texts, guessed, table.csv)
  const found = commas.map(({ column, example, way }): SourceWarning => {
    return (at) =>
      diagnostic('decimal-comma', { column, example }, at, `write at the table: csv: ${way}`)
  })
  found.push(...(await warningsOfWords(file, guessed)))
  if (!isPlainText(table.location)) return found
  const [path] = paths
  if (path !== undefined && isFile(path) && table.csv?.header !== false) {
    const header = await headerOfFile(path)
    const isRead = (name: string) => columns.some((column) => column.name === name)
    for (const repeated of repeatedNames(header.columns).filter(({ name }) => isRead(name)))
      found.push((at) => diagnostic('duplicate-seed-column', { ...repeated }, at, REPEATED_HINT))
  }
  if (columns.length !== 1) return found
  for (const one of paths) {
    const lines = await blankLines(one, table.csv?.quote)
    if (lines === 0) continue
    const problem = `${relative(dir, one)}: ${blankProblem(lines)}`
    found.push((at) => diagnostic('blank-rows', { problem }, at, BLANK_HINT))
  }
  return found
}

async function warningsOfWords(
  file: CheckedFile,
  guessed: readonly Column[],
): Promise<readonly SourceWarning[]> {
  const { connection, table, paths, texts } = file
  const said: SourceWarning[] = []
  for (const one of await numbersWithWords(connection, texts, guessed, table.csv)) {
    const { column, words, first } = one
    const path = await fileWith(file, { column, value: words[0]! })
    const at = paths.length === 1 ? `, first in row ${grouped(first)}` : ''
    const problem = `${path}: ${one.problem(at)}`
    const hint = `write at the table ${hintOfWords(one, table.csv)}`
    said.push((place) => diagnostic('numbers-as-text', { problem }, place, hint))
  }
  return said
}

const problemWith = async (file: CheckedFile, found: MisreadNumber): Promise<string> =>
  `${await fileWith(file, found)}: ${found.problem}`

/** The file of a pattern that has the value; a column of the same name hides that of the engine. */
async function fileWith(
  { connection, dir, table }: CheckedFile,
  { column, value }: Pick<MisreadNumber, 'column' | 'value'>,
): Promise<string> {
  if (isRemote(table.location)) return table.file
  const row = await connection.row(sql`
    SELECT filename FROM ${rowsOfFile(dir, table, ALL_TEXTS)}
    WHERE trim(${sql.ident(column)}) = ${sql.value(value)} LIMIT 1`)
  const path = textOf(row?.['filename'] ?? '')
  return isFile(path) ? relative(dir, path) : table.file
}

/** A date that is read as another one when a later row arrives is refused until it is said which one it is. */
async function refuseAmbiguousDates(file: CheckedFile): Promise<void> {
  const found = await eitherDate(file, CHECKED_ROWS)
  if (found !== null) throw new SourceProblem(found)
}

/** `rows`: how many are looked at of several files. */
async function eitherDate(file: CheckedFile, rows: number | null): Promise<Explanation | null> {
  const { connection, dir, table, columns, texts, paths } = file
  const { csv } = table
  if (csv?.dateFormat !== undefined || csv?.timestampFormat !== undefined) return null
  if (paths.length < 2) {
    const found = await ambiguousDate(connection, texts, columns)
    return found === null ? null : explainAmbiguous(found)
  }
  const some = rows === null ? sql.empty : sql`LIMIT ${sql.value(rows)}`
  // A column of that name hides DuckDB's own.
  const isHidden = columns.some(({ name }) => sameName(name, 'filename'))
  const reading = isHidden ? { ...ALL_TEXTS, fileColumn: FILE_COLUMN } : ALL_TEXTS
  const own = isHidden ? sql.empty : sql`, filename AS ${sql.ident(FILE_COLUMN)}`
  const rowsOfFiles = sql`SELECT *${own} FROM ${rowsOfFile(dir, table, reading)} ${some}`
  const teller = csv?.unionByName === true ? null : paths[0]!
  const found = await ambiguousDate(connection, rowsOfFiles, columns, teller)
  if (found === null) return null
  const { problem, hint } = explainAmbiguous(found)
  const at = found.file !== undefined && isFile(found.file) ? relative(dir, found.file) : table.file
  return { problem: `${at}: ${problem}`, hint }
}

/**
 * DuckDB takes the columns of the first file that a pattern finds, and leaves out what other files have besides, without a
 * word. Of a column that one lacks it speaks itself, and names no file of the project.
 */
async function refuseOtherColumns(file: CheckedFile): Promise<void> {
  const { dir, table, columns, paths } = file
  const { location, csv } = table
  if (!/\.(?:csv|tsv)$/i.test(location)) return
  const [first, ...others] = paths
  if (first === undefined || others.length === 0) return
  const namesOf = async (path: string) => (await headerOfFile(path)).columns
  const names = await namesOf(first)
  // Where DuckDB has found its names elsewhere, the first line is no header.
  if (!names.every((name, i) => name === columns[i]?.name)) return
  if (csv?.unionByName !== true && names.length !== columns.length) return
  let reordered: string | null = null
  for (const path of others) {
    const own = await namesOf(path)
    if (csv?.header === undefined && isRow(own, names))
      throw new SourceProblem(noHeader(relative(dir, first), relative(dir, path), own, names))
    if (csv?.unionByName === true) continue
    const added = own.find((name) => !names.includes(name))
    const missing = names.find((name) => !own.includes(name))
    if (added !== undefined || missing !== undefined)
      throw new SourceProblem(
        otherColumns(relative(dir, first), relative(dir, path), { added, missing }),
      )
    if (!own.every((name, i) => name === names[i])) reordered ??= path
  }
  if (reordered !== null) await refuseOtherOrder(file, first, reordered)
}

/**
 * DuckDB finds the values of files in another order by the names of their columns, but their types by place, also those
 * that are declared. Where all have the types that they have by name, nothing is lost.
 */
async function refuseOtherOrder(
  { connection, dir, table, columns }: CheckedFile,
  first: string,
  path: string,
): Promise<void> {
  const byName: FileTable = { ...table, csv: { ...table.csv, unionByName: true } }
  const rows = sql`SELECT * FROM ${rowsOfFile(dir, byName)}`
  const found = await ifRefused(connection.columnsOf(rows), () => [])
  for (const { name, type } of columns) {
    const meant = found.find((one) => sameName(one.name, name))?.type ?? type
    // A column of one word is text on purpose.
    if (meant === type || meant === 'BOOLEAN') continue
    const files = [relative(dir, first), relative(dir, path)] as const
    throw new SourceProblem(otherOrder(...files, { name, type, meant }))
  }
}

const YEAR = /^(?:19|20)\d\d$/

/** As many fields as the header of the first file has, none of its names, and numbers or dates where that has words. */
const isRow = (fields: readonly string[], names: readonly string[]) =>
  fields.length === names.length &&
  !fields.some((field) => names.includes(field)) &&
  fields.some((field, i) => /^[-+]?\d/.test(field) && !YEAR.test(field) && !/^\d/.test(names[i]!))
