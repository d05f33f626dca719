// Values of a sheet that the type of their column cannot hold, which DuckDB finds by the first cell below the name.

import type { Column } from '../../core/relation.ts'
import { limits } from '../../core/limits.ts'
import { columnLetters } from '../../core/xlsx/cells.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { losesDigits, losesZeros } from '../csv/guessed-types.ts'
import { short } from '../csv/misread-numbers.ts'
import { numbersWithWords } from '../csv/null-words.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { rowsOfSheet, type SheetTable } from './rows-of-file.ts'
import { type CellArea, cellsOfRange } from './sheet-rows.ts'

/** How a model reads the cells of a sheet as they are stored. */
export function readAsText({ file, sheet, range }: SheetTable): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`
  const named = [
    ...(sheet === null ? [] : [`sheet = ${quoted(sheet)}`]),
    ...(range === null ? [] : [`range = ${quoted(range)}`]),
    'all_varchar = true',
  ]
  return `FROM read_xlsx(${[quoted(file), ...named].join(', ')})`
}

/** What is asked of the cells of a column, each as it is stored, and what is said of the value that is found. */
interface Fault {
  readonly asked: Sql
  readonly explain: (found: string) => Explanation
}

/** A value that would be read as another one, of all columns in one pass. `most`: rows that are looked at. */
export async function changedValue(
  connection: Connection,
  dir: string,
  table: SheetTable,
  columns: readonly Column[],
  most?: number,
): Promise<Explanation | null> {
  const ofType = (type: string) => columns.filter((column) => column.type === type)
  const faults = [
    ...ofType('DOUBLE').flatMap((column) => changedNumber(column, table)),
    ...ofType('TIME').map((column) => cutDuration(column, table)),
  ]
  if (faults.length === 0) return null
  const asked = faults.map((fault, i) => sql`${fault.asked} AS ${sql.ident(`found${i}`)}`)
  const some = most === undefined ? sql.empty : sql`LIMIT ${sql.value(most)}`
  const texts = sql`SELECT * FROM ${rowsOfSheet(dir, table, { isRaw: true })} ${some}`
  // What cannot be read at all is said where it is read.
  const row = await ifRefused(
    connection.row(sql`SELECT ${sql.join(asked)} FROM (${texts})`),
    () => null,
  )
  for (const [i, { explain }] of faults.entries()) {
    const found = row?.[`found${i}`]
    if (typeof found === 'string' || typeof found === 'number') return explain(String(found))
  }
  return null
}

function changedNumber({ name }: Column, table: SheetTable): readonly Fault[] {
  const text = sql`trim(${sql.ident(name)})`
  const fault = (condition: Sql, what: string): Fault => ({
    asked: sql`min(${text}) FILTER (WHERE ${condition})`,
    explain: (found) => ({
      problem: `the column "${name}" has ${short(found)}, which would lose ${what}: by the first cell below its name, it has numbers`,
      hint: `store it as text in all rows, the first one too; or read the file in a model, where all cells are text: ${readAsText(table)}`,
    }),
  })
  return [fault(losesDigits(text), 'digits'), fault(losesZeros(text), 'zeros')]
}

/** Hours above 24, or below none: DuckDB keeps the time of the day alone. A time is stored as its part of a day. */
function cutDuration({ name }: Column, table: SheetTable): Fault {
  const days = sql`TRY_CAST(${sql.ident(name)} AS DOUBLE)`
  return {
    asked: sql`round(max(${days}) FILTER (WHERE ${days} >= 1 OR ${days} < 0) * 24, 2)`,
    explain: (hours) => ({
      problem: `the column "${name}" has a duration of ${hours} hours, of which nothing but a time of the day would be left: by the first cell below its name, it has times`,
      hint: `let the workbook have hours as a number, 24 times the duration; or read the file in a model, where all cells are text: SELECT CAST("${name}" AS DOUBLE) * 24 AS hours ${readAsText(table)}`,
    }),
  }
}

/** Columns of numbers that are text because of a few cells, the first one among them. */
export async function wordsInNumbers(
  connection: Connection,
  dir: string,
  table: SheetTable,
  columns: readonly Column[],
  area: CellArea | null,
): Promise<readonly Explanation[]> {
  const texts = sql`SELECT * FROM ${rowsOfSheet(dir, table, { isRaw: true })}`
  const found = await ifRefused(numbersWithWords(connection, texts, columns), () => [])
  return found.map(({ column, first, problem }) => {
    const i = columns.findIndex(({ name }) => name === column)
    const cell = area === null ? '' : `${columnLetters(area.left + i - 1)}${area.top + first}`
    return {
      problem: problem(cell === '' ? '' : `, first in ${cell}`),
      hint: `clear such cells, or read the file in a model, where all cells are text: SELECT TRY_CAST("${column}" AS DOUBLE) … ${readAsText(table)}`,
    }
  })
}

/** A cell that does not fit. Reads all rows, as models do. `left`: the first column of the table; null: not known. */
export function wrongCell(
  connection: Connection,
  dir: string,
  table: SheetTable,
  columns: readonly Column[],
  left: number | null,
): Promise<Explanation | null> {
  const rows = connection.row(sql`SELECT count(*) FROM ${rowsOfSheet(dir, table)}`)
  return ifRefused(
    rows.then(() => null),
    ({ details }) => {
      const wrong = unreadCell(details.message)
      if (wrong === null) return null
      const { cell, shown, type } = wrong
      const column =
        left === null ? undefined : columns[cellsOfRange(`${cell}:${cell}`).left - left]
      const of = column === undefined ? 'its column' : `the column "${column.name}"`
      return {
        problem: `${cell} is '${shown}', which is not ${wordOf(column?.type ?? type)}, as the first cell of ${of} is`,
        hint: `correct it, end the table above it by "range", or read the file in a model, where all cells are text: TRY_CAST(… AS ${type}) … ${readAsText(table)}`,
      }
    },
  )
}

interface UnreadCell {
  readonly cell: string
  readonly shown: string
  /** Of DuckDB. */
  readonly type: string
}

/** What DuckDB says of a cell that does not fit. */
export function unreadCell(message: string): UnreadCell | null {
  const [, cell, value, type] =
    /^read_xlsx: Failed to parse cell '(\w+)': Could not convert string '([^]*)' to (\w+)/.exec(
      message,
    ) ?? []
  if (cell === undefined) return null
  return { cell, shown: value!.slice(0, limits.problemLength), type: type! }
}

/** A date is stored as a number. */
export function wordOf(type: string): string {
  if (/^DATE|^TIMESTAMP/.test(type)) return 'a date'
  if (type === 'TIME') return 'a time'
  return type.startsWith('BOOL') ? 'TRUE or FALSE' : 'a number'
}
