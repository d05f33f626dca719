// What DuckDB would leave out of the rows of a sheet, or read as NULL, told by its cells.

import type { Column } from '../../core/relation.ts'
import { columnLetters } from '../../core/xlsx/cells.ts'
import type { Explanation } from '../hints/engine-words.ts'
import type { FileTable } from './rows-of-file.ts'
import {
  type CellArea,
  cellsOfRange,
  type Sheet,
  type SheetCell,
  type SheetRow,
} from './sheet-rows.ts'

/** Titles and dates above a table. */
const TITLE_ROWS = 10

/** Of what a hint proposes; rows may come. DuckDB reads as many blank ones in some milliseconds, and ten times as many in 0.3 s. */
const PROPOSED_ROWS = 100_000
const LAST_ROW = 1_048_576

/** Of a column that is counted from 1. */
const letters = (column: number) => columnLetters(column - 1)

/** The cells of the table; null: it is not known where they begin. */
export function areaOf(
  { range }: FileTable,
  first: SheetRow | undefined,
  columns: readonly Column[],
): CellArea | null {
  if (range !== null) return cellsOfRange(range)
  const left = first?.cells[0]?.column
  if (left === undefined) return null
  return { left, right: left + columns.length - 1, top: first!.row, bottom: LAST_ROW }
}

const isWithin = ({ left, right }: CellArea, { column }: SheetCell) =>
  column >= left && column <= right

const rangeOf = ({ left, right, top, bottom }: CellArea) =>
  `range: ${letters(left)}${top}:${letters(right)}${bottom}`

/** A row far below the last one that is known: rows may come, and blank ones are none. */
const belowOf = (rows: readonly SheetRow[]) =>
  (rows.at(-1)?.row ?? 0) * 2 < PROPOSED_ROWS ? PROPOSED_ROWS : LAST_ROW

/** Rows of one cell above one that reads as a header: DuckDB takes the first of them for the header. */
export function titleIn(rows: readonly SheetRow[]): Explanation | null {
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
export function gapIn([first, ...rest]: readonly SheetRow[]): Explanation | null {
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

export function daysFrom1904(
  { countsFrom1904 }: Sheet,
  columns: readonly Column[],
): Explanation | null {
  const column = columns.find(({ type }) => /^(?:DATE|TIMESTAMP)/.test(type))
  if (!countsFrom1904 || column === undefined) return null
  return {
    problem: `the workbook counts days from 1904, so that the dates of column "${column.name}" would be read four years and a day too early`,
    hint: 'copy the cells into a new workbook of Excel, which counts from 1900 and keeps the dates; or let the program that writes the file not set date1904',
  }
}

export function formulaIn(rows: readonly SheetRow[], area: CellArea | null): Explanation | null {
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
export function leftOut(rows: readonly SheetRow[], area: CellArea): Explanation | null {
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
export function blankRows(rows: readonly SheetRow[], area: CellArea): Explanation | null {
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
