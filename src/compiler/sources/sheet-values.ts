// Values of a sheet that the type of their column cannot hold, which DuckDB finds by the first cell below the name.

import type { Column } from '../../core/relation.ts'
import { limits } from '../../core/limits.ts'
import { type Sql, sql } from '../../core/sql.ts'
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
  const row = await ofTexts(connection, dir, table, each, most)
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

/** One row of what is asked of all cells, each as it is stored; null: they cannot be read at all, which is said where they are. */
function ofTexts(
  connection: Connection,
  dir: string,
  table: SheetTable,
  asked: readonly Sql[],
  most: number | undefined,
) {
  const some = most === undefined ? sql.empty : sql`LIMIT ${sql.value(most)}`
  const texts = sql`SELECT * FROM ${rowsOfSheet(dir, table, { isRaw: true })} ${some}`
  return ifRefused(connection.row(sql`SELECT ${sql.join(asked)} FROM (${texts})`), () => null)
}

/** Hours above 24, or below none: DuckDB keeps the time of the day alone. A time is stored as its part of a day. */
export async function cutDuration(
  connection: Connection,
  dir: string,
  table: SheetTable,
  columns: readonly Column[],
  most?: number,
): Promise<Explanation | null> {
  const times = columns.filter(({ type }) => type === 'TIME')
  if (times.length === 0) return null
  const each = times.map(({ name }, i) => {
    const days = sql`TRY_CAST(${sql.ident(name)} AS DOUBLE)`
    return sql`round(max(${days}) FILTER (WHERE ${days} >= 1 OR ${days} < 0) * 24, 2) AS ${sql.ident(`hours${i}`)}`
  })
  const row = await ofTexts(connection, dir, table, each, most)
  for (const [i, { name }] of times.entries()) {
    const hours = row?.[`hours${i}`]
    if (typeof hours !== 'number') continue
    return {
      problem: `the column "${name}" has a duration of ${hours} hours, of which nothing but a time of the day would be left: by the first cell below its name, it has times`,
      hint: `let the workbook have hours as a number, 24 times the duration; or read the file in a model, where all cells are text: SELECT CAST("${name}" AS DOUBLE) * 24 AS hours ${readAsText(table)}`,
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
