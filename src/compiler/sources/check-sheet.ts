// What DuckDB would leave out of a sheet of Excel, or read as another value, without a word: it is refused, or said.

import { resolve } from 'node:path'
import { MiB } from '../../core/byte-sizes.ts'
import { diagnostic } from '../../core/diagnostics.ts'
import type { Column } from '../../core/relation.ts'
import { isRemote } from '../../core/sources.ts'
import { limits } from '../../core/limits.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { SourceProblem } from './problems.ts'
import { rowsOfSheet, type SheetTable } from './rows-of-file.ts'
import {
  areaOf,
  blankRows,
  cutAt,
  daysFrom1904,
  formulaIn,
  gapIn,
  headerIn,
  leftOut,
  lettersOf,
  mergedIn,
  mergesOfRows,
  misfitIn,
  type Merges,
  titleIn,
} from './sheet-faults.ts'
import { changedValue, wordsInNumbers, wrongCell } from './sheet-values.ts'
import { type CellArea, openSheet, type Sheet, type SheetRow } from './sheet-rows.ts'
import type { SourceWarning } from './source-access.ts'
import { workbooksOf } from './workbooks.ts'

/** Of a pattern: what each compile opens. */
const CHECKED_FILES = 100

/** XML of what each compile looks at, in all files of a table: some 20,000 cells. */
const CHECKED_BYTES = MiB

/** XML of what a run looks at, in each file. */
const MOST_BYTES = 256 * MiB

/** Looks at the first files and rows. Throws SourceProblem. */
export async function checkSheets(
  connection: Connection,
  dir: string,
  table: SheetTable,
  columns: readonly Column[],
): Promise<readonly SourceWarning[]> {
  if (isRemote(table.location)) return []
  const said: SourceWarning[] = []
  let bytes = CHECKED_BYTES
  for (const file of (await workbooksOf(connection, dir, table)).slice(0, CHECKED_FILES)) {
    const own = await columnsIn(connection, dir, file, table, columns)
    const start = await startOfSheet(dir, file, own, bytes)
    if (start === null) continue
    const rows = bytes > 0 ? limits.csvSampledRows : 0
    const wrong = start.wrong ?? (await numberIn(connection, dir, file, start, rows))
    if (wrong !== null) throw new SourceProblem(wrong)
    said.push(...start.said)
    if (rows > 0) said.push(...(await wordsIn(connection, dir, file, start)))
    bytes = Math.max(0, bytes - start.sheet.sizeBytes)
  }
  return said
}

/** What no compile has looked at, since it looks at the first files and rows alone. Reads all of the sheets. */
export async function lateSheets(
  connection: Connection,
  dir: string,
  table: SheetTable,
  columns: readonly Column[],
): Promise<Explanation | null> {
  if (isRemote(table.location)) return null
  for (const file of await workbooksOf(connection, dir, table)) {
    const own = await columnsIn(connection, dir, file, table, columns)
    const start = await startOfSheet(dir, file, own, CHECKED_BYTES)
    if (start === null) continue
    const { sheet, area, wrong } = start
    const found =
      wrong ??
      (await readable(() => faultIn(file, start))) ??
      placed(file, sheet, await wrongCell(connection, dir, file, own, area?.left ?? null)) ??
      (await numberIn(connection, dir, file, start))
    if (found !== null) return found
  }
  return null
}

interface ModelReading {
  /** All cells are texts, as they are stored. */
  readonly isRaw: boolean
  /** The table ends above the first blank row. */
  readonly stopsAtBlank: boolean
  /** Whether the first row is a header does not depend on its cells. */
  readonly saysHeader: boolean
}

/** The same of one workbook that a model reads by itself, in which no run looks at more. */
export async function checkSheetOfModel(
  connection: Connection,
  dir: string,
  table: SheetTable,
  columns: readonly Column[],
  { isRaw, ...reading }: ModelReading,
): Promise<{ readonly wrong: Explanation | null; readonly said: readonly SourceWarning[] }> {
  const start = await startOfSheet(dir, table, columns, CHECKED_BYTES, reading)
  if (start === null || isRaw) return { wrong: null, said: start?.said ?? [] }
  const { sheet, wrong, said } = start
  const isLong = sheet.sizeBytes > CHECKED_BYTES
  const first =
    wrong ??
    (isLong ? placed(table, sheet, LONG) : null) ??
    (await numberIn(connection, dir, table, start))
  const words = first === null ? await wordsIn(connection, dir, table, start) : []
  return { wrong: first, said: [...said, ...words] }
}

const AS_SOURCE = { stopsAtBlank: false, saysHeader: false }

const NO_MERGES: Merges = new Map()

const LONG: Explanation = {
  problem:
    'the sheet is longer than what a compile looks at, and of a workbook that a model reads no run looks at more',
  hint: 'declare the file under sources in eider.yml, and read it as source.table; or read all cells as text, with all_varchar = true',
}

/** Of one file of a table, in its own order. */
async function columnsIn(
  connection: Connection,
  dir: string,
  file: SheetTable,
  table: SheetTable,
  columns: readonly Column[],
): Promise<readonly Column[]> {
  if (file === table) return columns
  const own = connection.columnsOf(sql`SELECT * FROM ${rowsOfSheet(dir, file)}`)
  return ifRefused(own, () => columns)
}

interface SheetStart {
  readonly sheet: Sheet
  readonly columns: readonly Column[]
  /** null: it is not known where the table begins. */
  readonly area: CellArea | null
  readonly wrong: Explanation | null
  readonly said: readonly SourceWarning[]
}

/** null: the file cannot be read. */
async function startOfSheet(
  dir: string,
  table: SheetTable,
  columns: readonly Column[],
  mostBytes: number,
  { stopsAtBlank, saysHeader }: Omit<ModelReading, 'isRaw'> = AS_SOURCE,
): Promise<SheetStart | null> {
  return readable(async () => {
    const sheet = await openSheet(resolve(dir, table.location), table.sheet)
    if (sheet === null) return null
    const rows: SheetRow[] = []
    if (mostBytes > 0) for await (const row of sheet.rows(mostBytes)) rows.push(row)
    const isAll = sheet.sizeBytes <= mostBytes
    const merges = isAll ? (await sheet.marks(mostBytes)).merges : NO_MERGES
    const isWhole = table.range === null
    const area = areaOf(table, rows[0], columns)
    const lost = isWhole ? (titleIn(rows) ?? gapIn(rows)) : null
    const unnamed = saysHeader ? null : headerIn(rows, area)
    const inRows = lost ?? unnamed ?? faultInRows(rows, table, { area, columns, merges })
    const wrong = placed(table, sheet, daysFrom1904(sheet, columns) ?? inRows)
    const said = isWhole && area !== null ? warningsOf(table, sheet, rows, area, stopsAtBlank) : []
    return { sheet, columns, area, wrong, said }
  })
}

function warningsOf(
  table: SheetTable,
  sheet: Sheet,
  rows: readonly SheetRow[],
  area: CellArea,
  stopsAtBlank: boolean,
): readonly SourceWarning[] {
  const said = [
    ['cells-left-out', leftOut(rows, area)],
    ['blank-rows', stopsAtBlank ? cutAt(rows, area) : blankRows(rows, area)],
  ] as const
  return said.flatMap(([code, found]) => {
    const wrong = placed(table, sheet, found)
    if (wrong === null) return []
    return [(at) => diagnostic(code, { problem: wrong.problem }, at, wrong.hint)]
  })
}

const placed = (
  { file }: SheetTable,
  { name }: Sheet,
  wrong: Explanation | null,
): Explanation | null =>
  wrong === null ? null : { ...wrong, problem: `${file}, sheet "${name}": ${wrong.problem}` }

async function numberIn(
  connection: Connection,
  dir: string,
  table: SheetTable,
  { sheet, columns }: SheetStart,
  most?: number,
): Promise<Explanation | null> {
  if (most === 0) return null
  return placed(table, sheet, await changedValue(connection, dir, table, columns, most))
}

async function wordsIn(
  connection: Connection,
  dir: string,
  table: SheetTable,
  { sheet, columns, area }: SheetStart,
): Promise<readonly SourceWarning[]> {
  const found = await wordsInNumbers(connection, dir, table, columns, area)
  return found.map((one) => {
    const { problem, hint } = placed(table, sheet, one)!
    return (at) => diagnostic('numbers-as-text', { problem }, at, hint)
  })
}

interface Known {
  readonly area: CellArea | null
  readonly columns: readonly Column[]
  readonly merges: Merges
}

const faultInRows = (
  rows: readonly SheetRow[],
  table: SheetTable,
  { area, columns, merges }: Known,
): Explanation | null =>
  formulaIn(rows, area) ??
  misfitIn(rows, area, columns, table) ??
  mergedIn(rows, area, table, merges)

/** Of all rows, where there is something in the sheet that may be wrong. */
async function faultIn(
  table: SheetTable,
  { sheet, columns, area }: SheetStart,
): Promise<Explanation | null> {
  const marks = await sheet.marks(MOST_BYTES, lettersOf(area, columns))
  const { hasFormulas, hasMisfits } = marks
  // Those of a header take nothing away, and need no look at each row.
  const merges = mergesOfRows(marks.merges, area)
  if (!hasFormulas && !hasMisfits && merges.size === 0) return null
  for await (const row of sheet.rows(MOST_BYTES)) {
    const wrong = faultInRows([row], table, { area, columns, merges })
    if (wrong !== null) return placed(table, sheet, wrong)
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
