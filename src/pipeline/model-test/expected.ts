// Compares the rows of a relation with those that a test expects: in the columns that the expectation has, and in any order
// unless the model orders them.

import { limits } from '../../core/limits.ts'
import type { ChangedRow, RowDifference, TextRow } from '../../core/report/row-difference.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
import { ModelFailure } from '../failure.ts'
import { inFile, readRows, type Target } from './fixtures.ts'

export interface Compared extends Target {
  readonly rows: Sql
  /** Columns that tell which row is which; empty: none do. */
  readonly key: readonly string[]
  readonly isOrdered: boolean
  /** By how much a DOUBLE or FLOAT may differ. */
  readonly tolerance: number
}

const EXPECTED = sql`temp.main._eider_expected`

/** `expect`: the path of a CSV in the project. null: the rows are the same. Throws ModelFailure for an unexpected order. */
export async function compareWithExpected(
  connection: Connection,
  dir: string,
  compared: Compared,
  expect: string,
): Promise<RowDifference | null> {
  const columns = await expectedColumns(connection, dir, compared, expect)
  const names = columns.map(({ name }) => name)
  const list = sql.idents(names)
  const actual = sql`(SELECT ${list} FROM ${compared.rows})`
  const { tolerance } = compared
  const floats = tolerance === 0 ? [] : columns.filter(isFloat).map(({ name }) => name)
  const most = floats.length === 0 ? limits.shownTestRows : limits.comparedTestRows
  const exactly = {
    missing: await rowsOnlyIn(connection, EXPECTED, actual, names, most),
    unexpected: await rowsOnlyIn(connection, actual, EXPECTED, names, most),
  }
  const { missing, unexpected } = withoutClose(exactly, floats, tolerance)
  if (missing.count + unexpected.count === 0) {
    if (compared.isOrdered) await refuseOtherOrder(connection, compared, columns, expect, floats)
    return null
  }
  const shown = { missing: missing.rows, unexpected: unexpected.rows }
  const line =
    missing.count === 0
      ? null
      : await lineOfFirst(connection, names, missing.rows, exactly.missing.rows, actual)
  return {
    path: expect,
    line,
    columns: names,
    missing: shown.missing.slice(0, limits.shownTestRows),
    unexpected: shown.unexpected.slice(0, limits.shownTestRows),
    changed: changedRows(shown.missing, shown.unexpected, names, compared.key),
    missingRows: missing.count,
    unexpectedRows: unexpected.count,
  }
}

/** Those that the expectation has; its rows are in a temporary table then. */
export async function expectedColumns(
  connection: Connection,
  dir: string,
  target: Target,
  expect: string,
): Promise<readonly Column[]> {
  return await inFile(dir, expect, async () => {
    const read = await readRows(connection, dir, { path: expect, format: 'csv' }, target)
    await connection.run(sql`CREATE OR REPLACE TEMP TABLE _eider_expected AS ${read.rows}`)
    return read.columns
  })
}

/** The rows are those that are expected, in another order than the model promises. */
export class OtherOrder extends ModelFailure {}

const isFloat = ({ type }: Column) => type === 'DOUBLE' || type === 'FLOAT'

async function rowsOnlyIn(
  connection: Connection,
  these: Sql,
  others: Sql,
  columns: readonly string[],
  most: number,
): Promise<CountedRows> {
  const only = sql`(SELECT * FROM (FROM ${these}) EXCEPT ALL SELECT * FROM (FROM ${others}))`
  const row = await connection.row(sql`SELECT count(*) AS n FROM ${only}`)
  const ordered = sql`(FROM ${only} ORDER BY ALL LIMIT ${sql.value(most)})`
  return {
    rows: await textRows(connection, columns, ordered),
    count: numberOf(row?.['n']),
  }
}

/** In the order of `rows`. */
export async function textRows(
  connection: Connection,
  columns: readonly string[],
  rows: Sql,
): Promise<readonly TextRow[]> {
  const texts = columns.map(
    (name) => sql`CAST(${sql.ident(name)} AS VARCHAR) AS ${sql.ident(name)}`,
  )
  return (await connection.rows(sql`SELECT ${sql.join(texts)} FROM ${rows}`)) as readonly TextRow[]
}

/** The header is line 1. Rows with line breaks in them move those after them. */
async function lineOfFirst(
  connection: Connection,
  columns: readonly string[],
  missing: readonly TextRow[],
  exactly: readonly TextRow[],
  actual: Sql,
): Promise<number | null> {
  if (missing.length < exactly.length) return await lineOfRow(connection, columns, missing)
  const row = await connection.row(sql`
    WITH missing AS (SELECT * FROM (FROM ${EXPECTED}) EXCEPT ALL SELECT * FROM (FROM ${actual}))
    SELECT min(e.rowid) AS first FROM ${EXPECTED} e
    WHERE EXISTS (FROM missing m WHERE row(${sql.join(columns.map((name) => sql`m.${sql.ident(name)}`))})
      IS NOT DISTINCT FROM row(${sql.join(columns.map((name) => sql`e.${sql.ident(name)}`))}))`)
  const first = row?.['first'] ?? null
  return first === null ? null : numberOf(first) + 2
}

/** Where some rows are close enough, those that are not are found among all texts. */
async function lineOfRow(
  connection: Connection,
  columns: readonly string[],
  missing: readonly TextRow[],
): Promise<number | null> {
  const all = await textRows(
    connection,
    columns,
    sql`(FROM ${EXPECTED} LIMIT ${sql.value(limits.comparedTestRows)})`,
  )
  const wanted = new Set(missing.map((row) => JSON.stringify(row)))
  const index = all.findIndex((row) => wanted.has(JSON.stringify(row)))
  return index === -1 ? null : index + 2
}

async function refuseOtherOrder(
  connection: Connection,
  { rows, relation }: Compared,
  columns: readonly Column[],
  expect: string,
  floats: readonly string[],
): Promise<void> {
  const names = columns.map(({ name }) => name)
  const most = sql.value(limits.comparedTestRows)
  const wanted = await textRows(connection, names, sql`(FROM ${EXPECTED} LIMIT ${most})`)
  const built = await textRows(connection, names, sql`(FROM ${rows} LIMIT ${most})`)
  const compared = names.filter((name) => !floats.includes(name))
  const index = wanted.findIndex((row, i) =>
    compared.some((name) => row[name] !== built[i]?.[name]),
  )
  if (index === -1) return
  const show = (row: TextRow | undefined) =>
    compared.map((name) => `${name} ${row?.[name] ?? 'NULL'}`).join(', ')
  throw new OtherOrder(
    `${expect}:${index + 2}: the rows are as expected, but in another order: here ${show(built[index])} was built, and ${relation} ends with ORDER BY`,
    'placed',
  )
}

interface CountedRows {
  readonly rows: readonly TextRow[]
  readonly count: number
}

interface Both {
  readonly missing: CountedRows
  readonly unexpected: CountedRows
}

/** Without the rows that are equal but for `floats`, and there differ by no more than `tolerance`. */
function withoutClose(both: Both, floats: readonly string[], tolerance: number): Both {
  if (floats.length === 0) return both
  const restOf = (row: TextRow) =>
    JSON.stringify(Object.entries(row).filter(([name]) => !floats.includes(name)))
  const open = [...both.unexpected.rows]
  const isClose = (one: TextRow, other: TextRow) =>
    restOf(one) === restOf(other) &&
    floats.every((name) => areClose(one[name] ?? null, other[name] ?? null, tolerance))
  const missing = both.missing.rows.filter((row) => {
    const at = open.findIndex((other) => isClose(row, other))
    if (at !== -1) open.splice(at, 1)
    return at === -1
  })
  const paired = both.missing.rows.length - missing.length
  return {
    missing: { rows: missing, count: both.missing.count - paired },
    unexpected: { rows: open, count: both.unexpected.count - paired },
  }
}

function areClose(one: string | null, other: string | null, tolerance: number): boolean {
  if (one === other) return true
  if (one === null || other === null) return false
  return Math.abs(Number(one) - Number(other)) <= tolerance
}

/** By the key where it is compared, else each missing row with the one that has most values in common. */
function changedRows(
  missing: readonly TextRow[],
  unexpected: readonly TextRow[],
  columns: readonly string[],
  key: readonly string[],
): readonly ChangedRow[] {
  const hasKey = key.length > 0 && key.every((name) => columns.includes(name))
  const open = new Set(unexpected)
  const found: ChangedRow[] = []
  for (const expected of missing) {
    let best: ChangedRow | null = null
    for (const built of open) {
      const different = columns.filter((name) => expected[name] !== built[name])
      const isSame = hasKey
        ? key.every((name) => expected[name] === built[name])
        : different.length * 2 <= columns.length
      if (isSame && (best === null || different.length < best.columns.length))
        best = { expected, built, columns: different }
    }
    if (best === null) continue
    open.delete(best.built)
    found.push(best)
  }
  return found
}

/** For an expectation, read back by readRows() to the same values: nothing at all is NULL, "" is an empty text. */
export const csvText = (columns: readonly string[], rows: readonly TextRow[]): string =>
  [columns.map(quoted), ...rows.map((row) => columns.map((name) => cell(row[name] ?? null)))]
    .map((cells) => `${cells.join(',')}\n`)
    .join('')

const cell = (text: string | null) => (text === null ? '' : text === '' ? '""' : quoted(text))

/** A space at an end would be lost before a quote. */
const quoted = (text: string) =>
  /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
