// Workbooks of Excel that are files of one source: `read_xlsx` reads one, of a pattern the first, and says nothing of the
// others.

import { basename, relative, resolve } from 'node:path'
import { grouped } from '../../core/counts.ts'
import { sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { isRemote } from '../../core/sources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { startOf } from '../csv/start-of-file.ts'
import { type Explanation, problemOf } from '../hints/engine-words.ts'
import { SourceProblem } from './problems.ts'
import { isFile, type SheetTable, pathsOf, rowsOfSheet } from './rows-of-file.ts'
import { sheetsOfWorkbook } from './sheet-rows.ts'

/** Each is opened three times by a compile, which takes 2 ms of a processor. */
const MOST_WORKBOOKS = 1_000

/** The files of a table, each as a table of its own; that of a web server, or of a name that nothing has, as it is. */
export async function workbooksOf(
  connection: Connection,
  dir: string,
  table: SheetTable,
): Promise<readonly SheetTable[]> {
  const { location } = table
  if (/^https?:/.test(location) || (!isRemote(location) && isFile(resolve(dir, location))))
    return [table]
  const paths = await pathsOf(connection, dir, table)
  const found = paths.filter((path) => !isOfOpenWorkbook(path))
  if (found.length === 0) return [table]
  return found.map((path) => ({
    ...table,
    location: path,
    file: isRemote(path) ? path : relative(dir, path),
  }))
}

/** Excel keeps such a file for each workbook that somebody has open: it has the name of the person, and no rows. */
const isOfOpenWorkbook = (path: string) => basename(path).startsWith('~$')

/** Those of all its files, with the columns of the first one. Throws SourceProblem. */
export async function rowsOfWorkbooks(
  connection: Connection,
  dir: string,
  table: SheetTable,
): Promise<Sql> {
  const files = await workbooksOf(connection, dir, table)
  if (files.length > MOST_WORKBOOKS)
    throw new SourceProblem({
      problem: `${table.file} matches ${grouped(files.length)} workbooks, and at most ${grouped(MOST_WORKBOOKS)} are read`,
      hint: 'name fewer by the pattern, or let their program write CSV or Parquet files',
    })
  for (const file of files) refuseOtherFile(dir, file)
  if (files[0] === table) return sql`SELECT * FROM ${rowsOfSheet(dir, table)}`
  const books: Workbook[] = []
  for (const file of files) books.push(await openWorkbook(connection, dir, file))
  const types = await commonTypes(connection, books)
  const selects = books.map(({ columns, rows }) => {
    const values = types.map(({ name, type }) => {
      const own = columns.find((column) => sameName(column.name, name))!
      const value = sql.ident(own.name)
      // There is no value where the types differ, and not each type can be cast to each.
      const cast =
        own.type === type ? value : sql`CAST(CAST(${value} AS VARCHAR) AS ${sql.type(type)})`
      return sql`${cast} AS ${sql.ident(name)}`
    })
    return sql`SELECT ${sql.join(values)} FROM ${rows}`
  })
  return sql`SELECT * FROM (${sql.join(selects, sql` UNION ALL `)})`
}

interface Workbook {
  readonly file: string
  readonly rows: Sql
  readonly columns: readonly Column[]
}

async function openWorkbook(
  connection: Connection,
  dir: string,
  table: SheetTable,
): Promise<Workbook> {
  const rows = rowsOfSheet(dir, table)
  const columns = await ifRefused(
    connection.columnsOf(sql`SELECT * FROM ${rows}`),
    async ({ details }) => {
      const hint = 'correct the file, or let the pattern leave it out'
      const known = await explainWorkbook(dir, table)
      throw new SourceProblem(known ?? { problem: `${table.file}: ${problemOf(details)}`, hint })
    },
  )
  return { file: table.file, rows, columns }
}

/** Columns of the first file, each with the type that it has where it has values. Throws SourceProblem. */
async function commonTypes(
  connection: Connection,
  books: readonly Workbook[],
): Promise<readonly Column[]> {
  const [first, ...others] = books
  for (const book of others) refuseOtherNames(first!, book)
  const found: Column[] = []
  for (const column of first!.columns)
    found.push({ ...column, type: await commonType(connection, books, column) })
  return found
}

function refuseOtherNames(first: Workbook, { file, columns }: Workbook): void {
  const lacks = (all: readonly Column[], { name }: Column) =>
    !all.some((column) => sameName(column.name, name))
  const added = columns.find((column) => lacks(first.columns, column))
  const missing = first.columns.find((column) => lacks(columns, column))
  if (added === undefined && missing === undefined) return
  const problem =
    added === undefined
      ? `${file} has no column "${missing!.name}", which ${first.file} has`
      : `${file} has a column "${added.name}", which ${first.file} does not have`
  throw new SourceProblem({
    problem,
    hint: 'give all workbooks of the pattern the same columns, or declare a table for each form',
  })
}

/** The type of a column is that of its first cell, and a blank one is a number. */
async function commonType(
  connection: Connection,
  books: readonly Workbook[],
  { name, type: ofFirst }: Column,
): Promise<Column['type']> {
  const typeIn = ({ columns }: Workbook) => columns.find((one) => sameName(one.name, name))!.type
  if (books.every((book) => typeIn(book) === ofFirst)) return ofFirst
  let held: Workbook | null = null
  for (const book of books) {
    if (held !== null && typeIn(book) === typeIn(held)) continue
    if (!(await hasValues(connection, book, name))) continue
    if (held === null) held = book
    else
      throw new SourceProblem({
        problem: `${book.file}: the column "${name}" has ${valuesOf(typeIn(book))}, by the first cell below its name, and ${valuesOf(typeIn(held))} in ${held.file}`,
        hint: 'write values of one kind into that cell of all workbooks; a blank one counts as a number',
      })
  }
  return held === null ? ofFirst : typeIn(held)
}

/** A value that cannot be read is one. */
async function hasValues(
  connection: Connection,
  { rows }: Workbook,
  column: string,
): Promise<boolean> {
  const value = sql.ident(column)
  const some = sql`SELECT 1 AS one FROM ${rows} WHERE ${value} IS NOT NULL LIMIT 1`
  return ifRefused(
    connection.row(some).then((row) => row !== null),
    () => true,
  )
}

/** In the words of people who fill sheets. */
function valuesOf(type: string): string {
  if (type.startsWith('TIMESTAMP')) return 'dates with a time'
  const known: Readonly<Record<string, string>> = {
    DOUBLE: 'numbers',
    DATE: 'dates',
    TIME: 'times',
    BOOLEAN: 'true and false',
    VARCHAR: 'text',
  }
  return known[type] ?? type
}

/** Why DuckDB cannot open a workbook of this machine; null: it says that itself. */
export async function explainWorkbook(dir: string, table: SheetTable): Promise<Explanation | null> {
  const { file, location, sheet } = table
  const path = resolve(dir, location)
  if (isRemote(location) || !isFile(path)) return null
  const names = await sheetsOfWorkbook(path).catch(() => null)
  if (names === null) return otherThanWorkbook(path, file)
  if (sheet === null || names.includes(sheet)) return null
  const listed = names.slice(0, SHOWN_SHEETS).map((name) => `"${name}"`)
  const more = names.length > SHOWN_SHEETS ? ', …' : ''
  return {
    problem: `${file} has no sheet "${sheet}"`,
    hint: `its sheets are ${listed.join(', ')}${more}`,
  }
}

const SHOWN_SHEETS = 10

const ARCHIVE = '504b0304'

/** Before the engine opens what is no archive, which it would keep open. */
function refuseOtherFile(dir: string, { file, location }: SheetTable): void {
  const path = resolve(dir, location)
  if (isRemote(location) || !isFile(path)) return
  if (startOf(path, 4).toString('hex') !== ARCHIVE)
    throw new SourceProblem(otherThanWorkbook(path, file))
}

/** Of an old workbook, and of one that has a password. */
const COMPOUND_FILE = 'd0cf11e0'

function otherThanWorkbook(path: string, file: string): Explanation {
  const isOld = startOf(path, 4).toString('hex') === COMPOUND_FILE
  return isOld
    ? {
        problem: `${file} is an old Excel workbook (.xls), or has a password`,
        hint: 'save it as .xlsx, without a password',
      }
    : {
        problem: `${file} is not an Excel workbook`,
        hint: 'open it in Excel and save it as .xlsx; if it has lines of CSV, name it .csv; if it is a page of a website, get the file again, signed in',
      }
}
