// Values of a sheet that the type of their column cannot hold, which DuckDB finds by the first cell below the name.

import type { Column } from '../../core/relation.ts'
import { limits } from '../../core/limits.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { losesDigits, losesZeros } from '../csv/guessed-types.ts'
import { short } from '../csv/misread-numbers.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { rowsOfSheet, type SheetTable } from './rows-of-file.ts'
import { cellsOfRange } from './sheet-rows.ts'

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

/** A value that would be another number. `most`: rows that are looked at. */
export async function changedNumber(
  connection: Connection,
  dir: string,
  table: SheetTable,
  columns: readonly Column[],
  most?: number,
): Promise<Explanation | null> {
  const numbers = columns.filter(({ type }) => type === 'DOUBLE')
  if (numbers.length === 0) return null
  const each = numbers.flatMap(({ name }, i) => {
    const text = sql`trim(${sql.ident(name)})`
    const least = (condition: ReturnType<typeof losesDigits>, as: string) =>
      sql`min(${text}) FILTER (WHERE ${condition}) AS ${sql.ident(`${as}${i}`)}`
    return [least(losesDigits(text), 'digits'), least(losesZeros(text), 'zeros')]
  })
  const some = most === undefined ? sql.empty : sql`LIMIT ${sql.value(most)}`
  const texts = sql`SELECT * FROM ${rowsOfSheet(dir, table, { isRaw: true })} ${some}`
  // What cannot be read at all is said where it is read.
  const row = await ifRefused(
    connection.row(sql`SELECT ${sql.join(each)} FROM (${texts})`),
    () => null,
  )
  for (const [i, { name }] of numbers.entries())
    for (const what of ['digits', 'zeros']) {
      const value = row?.[`${what}${i}`]
      if (typeof value !== 'string') continue
      return {
        problem: `the column "${name}" has ${short(value)}, which would lose ${what}: by the first cell below its name, it has numbers`,
        hint: `store it as text in all rows, the first one too; or read the file in a model, where all cells are text: ${readAsText(table)}`,
      }
    }
  return null
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
