// What DuckDB would leave out of a sheet of Excel, or read as another value, without a word: it is refused, or said.

import { resolve } from 'node:path'
import { MiB } from '../../core/byte-sizes.ts'
import { diagnostic } from '../../core/diagnostics.ts'
import type { Column } from '../../core/relation.ts'
import { isRemote } from '../../core/sources.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { SourceProblem } from './problems.ts'
import type { FileTable } from './rows-of-file.ts'
import {
  areaOf,
  blankRows,
  daysFrom1904,
  formulaIn,
  gapIn,
  leftOut,
  titleIn,
} from './sheet-faults.ts'
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
  table: FileTable,
  columns: readonly Column[],
): Promise<readonly SourceWarning[]> {
  if (isRemote(table.location)) return []
  const said: SourceWarning[] = []
  let bytes = CHECKED_BYTES
  for (const file of (await workbooksOf(connection, dir, table)).slice(0, CHECKED_FILES)) {
    const found = await startOfSheet(dir, file, columns, bytes)
    if (found === null) continue
    if (found.wrong !== null) throw new SourceProblem(found.wrong)
    said.push(...found.said)
    bytes = Math.max(0, bytes - found.bytes)
  }
  return said
}

/** What no compile has looked at, since it looks at the first files and rows alone. Reads all of the sheets. */
export async function lateSheets(
  connection: Connection,
  dir: string,
  table: FileTable,
  columns: readonly Column[],
): Promise<Explanation | null> {
  if (isRemote(table.location)) return null
  const files = await workbooksOf(connection, dir, table)
  for (const file of files) {
    // Of one file, a compile has looked at all that this looks at.
    const start = files.length > 1 ? await startOfSheet(dir, file, columns, CHECKED_BYTES) : null
    const wrong = start?.wrong ?? (await readable(() => firstFormula(dir, file, columns)))
    if (wrong !== null) return wrong
  }
  return null
}

interface Found {
  readonly wrong: Explanation | null
  readonly said: readonly SourceWarning[]
  /** Of the XML that was read. */
  readonly bytes: number
}

/** null: the file cannot be read. */
async function startOfSheet(
  dir: string,
  table: FileTable,
  columns: readonly Column[],
  mostBytes: number,
): Promise<Found | null> {
  const rows: SheetRow[] = []
  const sheet = await readable(async () => {
    const opened = await openSheet(resolve(dir, table.location), table.sheet)
    if (mostBytes > 0) for await (const row of opened?.rows(mostBytes) ?? []) rows.push(row)
    return opened
  })
  if (sheet === null) return null
  const place = placeOf(table, sheet)
  const isWhole = table.range === null
  const area = areaOf(table, rows[0], columns)
  const lost = isWhole ? (titleIn(rows) ?? gapIn(rows)) : null
  const wrong = daysFrom1904(sheet, columns) ?? lost ?? formulaIn(rows, area)
  return {
    wrong: wrong === null ? null : placed(place, wrong),
    said: isWhole && area !== null ? warningsOf(place, rows, area) : [],
    bytes: Math.min(mostBytes, sheet.sizeBytes),
  }
}

function warningsOf(
  place: string,
  rows: readonly SheetRow[],
  area: CellArea,
): readonly SourceWarning[] {
  const said = [
    ['cells-left-out', leftOut(rows, area)],
    ['blank-rows', blankRows(rows, area)],
  ] as const
  return said.flatMap(([code, found]) =>
    found === null
      ? []
      : [(at) => diagnostic(code, { problem: placed(place, found).problem }, at, found.hint)],
  )
}

const placed = (place: string, wrong: Explanation): Explanation => ({
  ...wrong,
  problem: `${place}: ${wrong.problem}`,
})

async function firstFormula(
  dir: string,
  table: FileTable,
  columns: readonly Column[],
): Promise<Explanation | null> {
  const sheet = await openSheet(resolve(dir, table.location), table.sheet)
  if (sheet === null || !(await sheet.hasFormulas(MOST_BYTES))) return null
  let area: CellArea | null = null
  for await (const row of sheet.rows(MOST_BYTES)) {
    area ??= areaOf(table, row, columns)
    const wrong = formulaIn([row], area)
    if (wrong !== null) return placed(placeOf(table, sheet), wrong)
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

const placeOf = ({ file }: FileTable, { name }: Sheet) => `${file}, sheet "${name}"`
