// What DuckDB would leave out of a sheet of Excel, or read as NULL, without a word: it is refused, or said.

import { resolve } from 'node:path'
import { MiB } from '../../core/byte-sizes.ts'
import { diagnostic } from '../../core/diagnostics.ts'
import type { Column } from '../../core/relation.ts'
import { isRemote } from '../../core/sources.ts'
import { columnLetters } from '../../core/xlsx/cells.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { SourceProblem } from './problems.ts'
import type { FileTable } from './rows-of-file.ts'
import { cellsOfRange, openSheet, type Sheet, type SheetCell, type SheetRow } from './sheet-rows.ts'
import type { SourceWarning } from './source-access.ts'

/** XML of what each compile looks at: some 20,000 cells. */
const CHECKED_BYTES = MiB

/** XML of what a run looks at. */
const MOST_BYTES = 256 * MiB

/** Titles and dates above a table. */
const TITLE_ROWS = 10

/** Of what a hint proposes; rows may come. DuckDB reads as many blank ones in some milliseconds, and ten times as many in 0.3 s. */
const PROPOSED_ROWS = 100_000
const LAST_ROW = 1_048_576

/** Of a column that is counted from 1. */
const letters = (column: number) => columnLetters(column - 1)

interface Area {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

export async function checkSheet(
  dir: string,
  table: FileTable,
  columns: readonly Column[],
): Promise<readonly SourceWarning[]> {
  const rows: SheetRow[] = []
  const sheet = await readable(async () => {
    const opened = await sheetOf(dir, table)
    for await (const row of opened?.rows(CHECKED_BYTES) ?? []) rows.push(row)
    return opened
  })
  if (sheet === null) return []
  const place = placeOf(table, sheet)
  const isWhole = table.range === null
  const area = areaOf(table, rows[0], columns)
  const lost = isWhole ? (titleIn(rows) ?? gapIn(rows)) : null
  const wrong = daysFrom1904(sheet, columns) ?? lost ?? formulaIn(rows, area)
  if (wrong !== null) throw new SourceProblem({ ...wrong, problem: `${place}: ${wrong.problem}` })
  if (!isWhole || area === null) return []
  const said = [
    ['cells-left-out', leftOut(rows, area)],
    ['blank-rows', blankRows(rows, area)],
  ] as const
  return said.flatMap(([code, found]) =>
    found === null
      ? []
      : [(at) => diagnostic(code, { problem: `${place}: ${found.problem}` }, at, found.hint)],
  )
}

/** What no compile has looked at, since it looks at the first rows alone. Reads all of the sheet. */
export const lateFormula = (
  _connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
): Promise<Explanation | null> => readable(() => firstFormula(dir, table, columns))

async function firstFormula(
  dir: string,
  table: FileTable,
  columns: readonly Column[],
): Promise<Explanation | null> {
  const sheet = await sheetOf(dir, table)
  if (sheet === null || !(await sheet.hasFormulas(MOST_BYTES))) return null
  let area: Area | null = null
  for await (const row of sheet.rows(MOST_BYTES)) {
    area ??= areaOf(table, row, columns)
    const wrong = formulaIn([row], area)
    if (wrong !== null) return { ...wrong, problem: `${placeOf(table, sheet)}: ${wrong.problem}` }
  }
  return null
}

/** null where the file cannot be read: DuckDB says what is wrong. */
async function readable<T>(read: () => Promise<T | null>): Promise<T | null> {
  try {
    return await read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return null
  }
}

async function sheetOf(dir: string, { location, sheet }: FileTable): Promise<Sheet | null> {
  if (isRemote(location)) return null
  return openSheet(resolve(dir, location), sheet)
}

const placeOf = ({ file }: FileTable, { name }: Sheet) => `${file}, sheet "${name}"`

/** The cells of the table; null: it is not known where they begin. */
function areaOf(
  { range }: FileTable,
  first: SheetRow | undefined,
  columns: readonly Column[],
): Area | null {
  if (range !== null) return cellsOfRange(range)
  const left = first?.cells[0]?.column
  if (left === undefined) return null
  return { left, right: left + columns.length - 1, top: first!.row, bottom: LAST_ROW }
}

const isWithin = ({ left, right }: Area, { column }: SheetCell) => column >= left && column <= right

const rangeOf = ({ left, right, top, bottom }: Area) =>
  `range: ${letters(left)}${top}:${letters(right)}${bottom}`

/** A row far below the last one that is known: rows may come, and blank ones are none. */
const belowOf = (rows: readonly SheetRow[]) =>
  (rows.at(-1)?.row ?? 0) * 2 < PROPOSED_ROWS ? PROPOSED_ROWS : LAST_ROW

/** Rows of one cell above one that reads as a header: DuckDB takes the first of them for the header. */
function titleIn(rows: readonly SheetRow[]): Explanation | null {
  const at = rows.findIndex(({ cells }) => cells.length > 1)
  const [title, header, next] = [rows[0], rows[at], rows[at + 1]]
  if (at < 1 || at > TITLE_ROWS || title === undefined || header === undefined) return null
  if (!header.cells.every(({ isText }) => isText) || next === undefined) return null
  if (next.cells.length === 1) return null
  const [first, last] = [header.cells[0]!.column, header.cells.at(-1)!.column]
  if (title.cells[0]!.column > last) return null
  const area = { left: first, right: last, top: header.row, bottom: belowOf(rows) }
  return {
    problem: `${letters(title.cells[0]!.column)}${title.row} seems to be a title above the table, and would be its header, so that columns and rows would be lost`,
    hint: `name the cells, the header first: "${rangeOf(area)}"; blank rows below the table are left out`,
  }
}

/** DuckDB takes such a header for a row, or ends it there, by whether the cell without a name is formatted. */
function gapIn([first, ...rest]: readonly SheetRow[]): Explanation | null {
  if (first === undefined || !first.cells.every(({ isText }) => isText)) return null
  const { cells, row } = first
  const at = cells.findIndex(({ column }, i) => column !== cells[0]!.column + i)
  if (at < 1) return null
  const right = cells[at - 1]!.column
  const [gap, next] = [right + 1, cells[at]!.column].map((column) => `${letters(column)}${row}`)
  const area = { left: cells[0]!.column, right, top: row, bottom: belowOf(rest) }
  return {
    problem: `${gap} has no name for its column, so that ${next} and what is below it would not be a column of that name`,
    hint: `write a name into ${gap}, or name the cells of the table: "${rangeOf(area)}"`,
  }
}

function daysFrom1904({ countsFrom1904 }: Sheet, columns: readonly Column[]): Explanation | null {
  const column = columns.find(({ type }) => /^(?:DATE|TIMESTAMP)/.test(type))
  if (!countsFrom1904 || column === undefined) return null
  return {
    problem: `the workbook counts days from 1904, so that the dates of column "${column.name}" would be read four years and a day too early`,
    hint: 'copy the cells into a new workbook of Excel, which counts from 1900 and keeps the dates; or let the program that writes the file not set date1904',
  }
}

function formulaIn(rows: readonly SheetRow[], area: Area | null): Explanation | null {
  if (area === null) return null
  for (const { row, cells } of rows) {
    if (row < area.top || row > area.bottom) continue
    const cell = cells.find((one) => one.lacksValue && isWithin(area, one))
    if (cell === undefined) continue
    return {
      problem: `${letters(cell.column)}${row} has a formula without a value, which would be NULL: the program that wrote the file has not calculated it`,
      hint: 'open the file in Excel or LibreOffice and save it, which stores the values; or let the program write values',
    }
  }
  return null
}

/** Cells beside the columns that the first row has. */
function leftOut(rows: readonly SheetRow[], area: Area): Explanation | null {
  for (const { row, cells } of rows) {
    const cell = cells.find((one) => !isWithin(area, one))
    if (cell === undefined) continue
    const head = `${letters(cell.column)}${area.top}`
    return {
      problem: `${letters(cell.column)}${row} is left out, and so is its column: ${head} has no name for it`,
      hint: `write a name into ${head}, or name the cells that are read, which says that others are not: "${rangeOf({ ...area, bottom: belowOf(rows) })}"`,
    }
  }
  return null
}

/** What is below may be another table, or notes. */
function blankRows(rows: readonly SheetRow[], area: Area): Explanation | null {
  let last = area.top
  for (const { row, cells } of rows) {
    if (!cells.some((cell) => isWithin(area, cell))) continue
    if (row > last + 1) {
      const blank = row === last + 2 ? `row ${last + 1} is` : `rows ${last + 1} to ${row - 1} are`
      return {
        problem: `${blank} blank, and the rows below are read, too`,
        hint: `if the table ends above, name its cells: "${rangeOf({ ...area, bottom: last })}"; if not, remove blank rows, or name all cells: "${rangeOf({ ...area, bottom: belowOf(rows) })}"`,
      }
    }
    last = row
  }
  return null
}
