// The rows of a model beside those that a test expects: in any order, and in the columns that the expectation has.

import { limits } from '../../core/limits.ts'
import type { Model } from '../../core/model.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
import { relationOf } from '../build/materialize/relation.ts'
import { inFile, readRows } from './fixtures.ts'

/** Rows are values as texts, by column; null is NULL. */
export interface RowDifference {
  readonly path: string
  /** The line of the first row that is missing; null: none is, or it is not known. */
  readonly line: number | null
  readonly columns: readonly string[]
  /** Expected, and not there; at most limits.shownTestRows, as below. */
  readonly missing: readonly TextRow[]
  /** There, and not expected. */
  readonly unexpected: readonly TextRow[]
  readonly missingRows: number
  readonly unexpectedRows: number
}

export type TextRow = Readonly<Record<string, string | null>>

/** `expect`: the path of a CSV in the project. null: the rows are the same. */
export async function compareWithExpected(
  connection: Connection,
  dir: string,
  model: Model,
  expect: string,
): Promise<RowDifference | null> {
  const target = { relation: model.name, columns: model.columns }
  const columns = await inFile(expect, async () => {
    const read = await readRows(connection, dir, { path: expect, format: 'csv' }, target)
    await connection.run(sql`CREATE OR REPLACE TEMP TABLE _eider_expected AS ${read.rows}`)
    return read.columns.map(({ name }) => name)
  })
  const expected = sql`temp.main._eider_expected`
  const list = sql.join(columns.map((name) => sql.ident(name)))
  const actual = sql`(SELECT ${list} FROM ${relationOf(model.name)})`
  const [missing, missingRows] = await rowsOnlyIn(connection, expected, actual, columns)
  const [unexpected, unexpectedRows] = await rowsOnlyIn(connection, actual, expected, columns)
  if (missingRows + unexpectedRows === 0) return null
  const line = missingRows === 0 ? null : await firstLine(connection, expected, actual, columns)
  return { path: expect, line, columns, missing, unexpected, missingRows, unexpectedRows }
}

async function rowsOnlyIn(
  connection: Connection,
  these: Sql,
  others: Sql,
  columns: readonly string[],
): Promise<readonly [rows: readonly TextRow[], count: number]> {
  const only = sql`(SELECT * FROM (FROM ${these}) EXCEPT ALL SELECT * FROM (FROM ${others}))`
  const row = await connection.row(sql`SELECT count(*) AS n FROM ${only}`)
  const texts = columns.map(
    (name) => sql`CAST(${sql.ident(name)} AS VARCHAR) AS ${sql.ident(name)}`,
  )
  const rows = await connection.rows(
    sql`SELECT ${sql.join(texts)} FROM (FROM ${only} ORDER BY ALL LIMIT ${sql.value(limits.shownTestRows)})`,
  )
  return [rows as readonly TextRow[], numberOf(row?.['n'])]
}

/** The header is line 1. Rows with line breaks in them move those after them. */
async function firstLine(
  connection: Connection,
  expected: Sql,
  actual: Sql,
  columns: readonly string[],
): Promise<number | null> {
  const row = await connection.row(sql`
    WITH missing AS (SELECT * FROM (FROM ${expected}) EXCEPT ALL SELECT * FROM (FROM ${actual}))
    SELECT min(e.rowid) AS first FROM ${expected} e
    WHERE EXISTS (FROM missing m WHERE row(${sql.join(columns.map((name) => sql`m.${sql.ident(name)}`))})
      IS NOT DISTINCT FROM row(${sql.join(columns.map((name) => sql`e.${sql.ident(name)}`))}))`)
  const first = row?.['first'] ?? null
  return first === null ? null : numberOf(first) + 2
}
