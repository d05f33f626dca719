// What DuckDB would leave out of the rows of a sheet, or read as NULL, told by its cells.

import type { Column } from '../../core/relation.ts'
import { columnLetters } from '../../core/xlsx/cells.ts'
import { short } from '../csv/misread-numbers.ts'
import { readAsText } from './sheet-values.ts'
import type { Explanation } from '../hints/engine-words.ts'
import type { SheetTable } from './rows-of-file.ts'
import {
  type CellArea,
  cellsOfRange,
  type LettersOfColumns,
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
  { range }: SheetTable,
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

/** DuckDB takes such a header for a row, and names the columns by their letters; the types of columns are then those of it. */
export function headerIn(rows: readonly SheetRow[], area: CellArea | null): Explanation | null {
  const header = area === null ? undefined : rows.find(({ row }) => row === area.top)
  const cell = header?.cells.find((one) => one.isFilled && !one.isText && isWithin(area!, one))
  if (header === undefined || cell === undefined) return null
  const [name, first] = [cell.column, area!.left].map((at) => `${letters(at)}${header.row}`)
  return {
    problem: `${name} is ${cell.isDate ? 'a date' : 'no text'}, so that row ${header.row} would be a row of the table and not its header, and the first column would be called ${first}`,
    hint: `write the names of all columns as text, such as '2026 with the sign ' before it in Excel; if there is no header, insert one, or read the file in a model that says so: FROM read_xlsx(…, header = false)`,
  }
}

export function daysFrom1904(
  { countsFrom1904 }: Sheet,
  columns: readonly Column[],
): Explanation | null {
  const column = columns.find(isDated)
  if (!countsFrom1904 || column === undefined) return null
  return {
    problem: `the workbook counts days from 1904, so that the dates of column "${column.name}" would be read four years and a day too early`,
    hint: 'copy the cells into a new workbook of Excel, which counts from 1900 and keeps the dates; or let the program that writes the file not set date1904',
  }
}

const isDated = ({ type }: Column) => /^(?:DATE|TIMESTAMP)/.test(type)

/** The columns of the table; none where it begins at an unknown one. */
export function lettersOf(area: CellArea | null, columns: readonly Column[]): LettersOfColumns {
  if (area === null) return { dates: [], others: [] }
  const all = columns.map((one, i) => ({ of: letters(area.left + i), isDated: isDated(one) }))
  return {
    dates: all.flatMap((one) => (one.isDated ? [one.of] : [])),
    others: all.flatMap((one) => (one.isDated ? [] : [one.of])),
  }
}

/**
 * A date in a column whose first cell is none, or a number in one whose first cell is a date: only the format of a cell
 * tells a date from a number.
 */
export function misfitIn(
  rows: readonly SheetRow[],
  area: CellArea | null,
  columns: readonly Column[],
  table: SheetTable,
): Explanation | null {
  if (area === null) return null
  for (const { row, cells } of rows) {
    if (row <= area.top || row > area.bottom) continue
    for (const cell of cells) {
      const column = isWithin(area, cell) ? columns[cell.column - area.left] : undefined
      if (column === undefined) continue
      const [first, name] = [`${letters(cell.column)}${area.top + 1}`, column.name]
      const place = `${letters(cell.column)}${row}`
      if (isDated(column) && cell.number !== null)
        return {
          problem: `${place} is the number ${short(cell.number)}, which would be a date: the first cell below "${name}", ${first}, is a date`,
          hint: `correct it, give it the format of a date if it is one, or read the file in a model, where all cells are text: ${readAsText(table)}`,
        }
      if (isDated(column) || !cell.isDate) continue
      return {
        problem: `${place} is a date, which would be a number of days: the first cell below "${name}", ${first}, is not a date`,
        hint: `give ${first} a date; or move a row that has one to the top`,
      }
    }
  }
  return null
}

/** Merged areas, each by the place of its first cell, which has the value of all. */
export type Merges = ReadonlyMap<string, CellArea>

/** A merged area that reaches into the rows below the header. One without a value takes none away. */
export function mergedIn(
  rows: readonly SheetRow[],
  area: CellArea | null,
  table: SheetTable,
  merges: Merges,
): Explanation | null {
  if (area === null || merges.size === 0) return null
  for (const { row, cells } of rows) {
    for (const { column, isFilled } of cells) {
      const first = `${letters(column)}${row}`
      const merged = isFilled ? merges.get(first) : undefined
      if (merged === undefined || !takesValues(merged, area)) continue
      return {
        problem: `${first}:${letters(merged.right)}${merged.bottom} is merged: ${first} has the value of all of its cells, and the others would be NULL`,
        hint: `take it apart in Excel (Unmerge Cells) and write the value into each cell, or read the file in a model, where all cells are text: ${readAsText(table)}`,
      }
    }
  }
  return null
}

/** Those by which cells of rows lose their values. */
export const mergesOfRows = (merges: Merges, area: CellArea | null): Merges =>
  area === null ? merges : new Map([...merges].filter(([, merged]) => takesValues(merged, area)))

/** Whether a cell of rows is merged that is not the first one. */
function takesValues(merged: CellArea, area: CellArea): boolean {
  const top = Math.max(merged.top, area.top + 1)
  const left = Math.max(merged.left, area.left)
  const bottom = Math.min(merged.bottom, area.bottom)
  const right = Math.min(merged.right, area.right)
  if (top > bottom || left > right) return false
  const isFirstAlone =
    top === bottom && left === right && top === merged.top && left === merged.left
  return !isFirstAlone
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
  const blank = firstBlank(rows, area)
  if (blank === null) return null
  return {
    problem: `${blank.are} blank, and the rows below are read, too`,
    hint: `if the table ends above, name its cells: "${rangeOf({ ...area, bottom: blank.above })}"; if not, remove blank rows, or name all cells: "${rangeOf({ ...area, bottom: belowOf(rows) })}"`,
  }
}

/** Where a table ends with the first blank row. */
export function cutAt(rows: readonly SheetRow[], area: CellArea): Explanation | null {
  const blank = firstBlank(rows, area)
  if (blank === null) return null
  return {
    problem: `${blank.are} blank, and the rows below are left out`,
    hint: `write stop_at_empty = false, or, if the table ends above, ${rangeOf({ ...area, bottom: blank.above }).replace(/: (.*)/, " = '$1'")}`,
  }
}

/** The row above the first blank one that has rows below it. */
function firstBlank(rows: readonly SheetRow[], area: CellArea) {
  let above = area.top
  for (const { row, cells } of rows) {
    if (!cells.some((cell) => isWithin(area, cell))) continue
    if (row > above + 1) {
      const are = row === above + 2 ? `row ${above + 1} is` : `rows ${above + 1} to ${row - 1} are`
      return { above, are }
    }
    above = row
  }
  return null
}
