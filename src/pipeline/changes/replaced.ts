// What differs between a table and the one that replaces it, where somebody follows it: rows are counted and hashed for
// each day, or part of the numbers, of the column that is followed.

import type { Model } from '../../core/model.ts'
import { type Column, columnType } from '../../core/relation.ts'
import { keepOf } from '../../core/retention.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { ClosedRange } from '../../store/changes.ts'
import { continuesTable, relationType } from '../build/materialize/relation.ts'
import type { RunContext } from '../run-context.ts'
import { warnOfForgotten } from './forgotten-rows.ts'
import { isMadeOfForgotten } from './forgets.ts'
import { rowsOfKeys } from './replaced-keys.ts'
import { followedColumns } from './notes.ts'
import { rowParts } from './row-prints.ts'
import { bucketOf, hasParts, isTouched, rangesIn, readRanges, widthOf } from './ranges.ts'

/** `replace` makes the table of the model anew, in the transaction of the caller. */
export async function comparing<T>(
  context: RunContext,
  model: Model,
  replace: () => Promise<T>,
): Promise<T> {
  const isThere = relationType(context.catalog, model.name) === 'table'
  if (!isThere) return replace()
  context.changes.lose(model.name)
  const keys = await rowsOfKeys(context, model)
  const result = await comparingRanges(context, model, replace)
  await keys?.compare()
  return result
}

/** The same for those who follow ranges, where what changes is said of single values: a window that moves on is no change. */
export async function comparingRanges<T>(
  context: RunContext,
  model: Model,
  change: () => Promise<T>,
): Promise<T> {
  const relation = sql.relation(model.name)
  const before = await profiles(context, relation, await comparable(context, model))
  const result = await change()
  for (const [column, ranges] of await differences(context, model, before, relation))
    context.changes.add(model.name, column, ranges)
  return result
}

/** What a plan has made of a table in memory; `before`: the table. */
export async function notePlanned(
  context: RunContext,
  model: Model,
  versions: { readonly before: string; readonly after: string },
  before: Sql,
): Promise<void> {
  const columns = await comparable(context, model)
  const after = sql.relation(model.name)
  const found = await profiles(context, before, columns)
  const differ = new Map(await differences(context, model, found, after))
  if (saysRows(context, model))
    for (const column of columns) {
      const changed = { before, after, within: differ.get(column.name) ?? [] }
      differ.set(column.name, await valuesThatDiffer(context.connection, column, changed))
    }
  const hasGone = context.changes.takeLost(model.name)
  for (const column of context.store.state.changes.columnsOf(model.name))
    context.changes.plan({
      model: model.name,
      column,
      ...versions,
      ranges: differ.get(column) ?? null,
      hasGone,
    })
}

/** Whether a build says the values of the rows that it writes or deletes, where a comparison knows whole days alone. */
const saysRows = (context: RunContext, model: Model): boolean =>
  model.kind === 'events' ||
  (['append', 'merge', 'scd2'].includes(model.kind) && continuesTable(context, model))

/** Of the column in rows that only one of the relations has, among those `within` these ranges. */
async function valuesThatDiffer(
  connection: Connection,
  { name, type }: Column,
  { before, after, within }: Sides & { readonly within: readonly ClosedRange[] },
): Promise<readonly ClosedRange[]> {
  if (within.length === 0) return []
  const hashed = async (relation: Sql) =>
    sql`(SELECT ${sql.ident(name)} AS v, ${hashOfRow(await partsOfRows(connection, relation))} AS h
      FROM ${relation} AS _eider_row WHERE ${isTouched(sql.ident(name), within)})`
  const [was, is] = [await hashed(before), await hashed(after)]
  const values = sql`
    SELECT v FROM ((FROM ${was} EXCEPT ALL FROM ${is}) UNION ALL (FROM ${is} EXCEPT ALL FROM ${was}))`
  return rangesIn(connection, values, type)
}

/** Followed columns that the table has already, with the same type. */
async function comparable(context: RunContext, model: Model): Promise<readonly Column[]> {
  const columns = followedColumns(context, model)
  if (columns.length === 0) return []
  const before = (await context.columnsBefore(context.connection, model.name)) ?? []
  return columns.filter((one) =>
    before.some(({ name, type }) => name === one.name && type === one.type),
  )
}

interface Profile {
  readonly column: Column
  readonly table: Sql
  readonly width: Sql
}

async function profiles(
  { connection }: RunContext,
  relation: Sql,
  columns: readonly Column[],
): Promise<readonly Profile[]> {
  const found: Profile[] = []
  const parts = await partsOfRows(connection, relation)
  for (const [i, column] of columns.entries()) {
    const values = sql`SELECT ${sql.ident(column.name)} AS v FROM ${relation}`
    const width = await fixedWidth(connection, values, column)
    const table = sql.ident('temp', 'main', `_eider_profile_${i}`)
    const rows = profileOf({ relation, parts }, column, width)
    await connection.run(sql`CREATE OR REPLACE TEMP TABLE ${table} AS ${rows}`)
    found.push({ column, table, width })
  }
  return found
}

async function differences(
  context: RunContext,
  model: Model,
  before: readonly Profile[],
  relation: Sql,
): Promise<ReadonlyMap<string, readonly ClosedRange[]>> {
  const { connection, project } = context
  const found = new Map<string, readonly ClosedRange[]>()
  // Where it is made anew as a whole, a table that keeps rows has lost what its inputs have forgotten.
  const isWindow =
    before.length > 0 && (keepOf(model) !== null || isMadeOfForgotten(project, model))
  const parts = before.length === 0 ? sql.empty : await partsOfRows(connection, relation)
  for (const { column, table, width } of before) {
    const after = sql.ident('temp', 'main', '_eider_profile_after')
    const rows = profileOf({ relation, parts }, column, width)
    await connection.run(sql`CREATE OR REPLACE TEMP TABLE ${after} AS ${rows}`)
    const sides = { before: table, after }
    found.set(column.name, await readRanges(connection, differing(sides, column, isWindow)))
    if (isWindow && hasParts(column.type))
      await warnOfForgotten(context, model, column, lostBelow(sides))
    await connection.run(sql`DROP TABLE ${table}; DROP TABLE ${after}`)
  }
  return found
}

/** Both tables are cut into the same parts. */
async function fixedWidth(connection: Connection, values: Sql, { type }: Column): Promise<Sql> {
  const row = await connection.row(sql`SELECT CAST(${widthOf(values, type)} AS VARCHAR) AS width`)
  return sql.value(textOf(row?.['width'] ?? '1'), columnType('DOUBLE'))
}

const hashOfRow = (parts: Sql): Sql => sql`hash(${parts}, typeof(_eider_row))`

/**
 * NULLs of the column are no values, so a change of such rows touches nothing. The hash of a row knows neither the names
 * nor the types of its values: columns that change names are other rows, and so are 1.00 and 100.
 */
const profileOf = (
  { relation, parts }: { readonly relation: Sql; readonly parts: Sql },
  { name, type }: Column,
  width: Sql,
): Sql => sql`
  SELECT ${bucketOf(type, width)} AS bucket, count(*) AS n, sum(CAST(h AS HUGEINT)) AS h, min(v) AS low, max(v) AS high
  FROM (SELECT ${sql.ident(name)} AS v, ${hashOfRow(parts)} AS h FROM ${relation} AS _eider_row)
  WHERE v IS NOT NULL GROUP BY bucket`

const partsOfRows = async (connection: Connection, relation: Sql): Promise<Sql> =>
  rowParts(await describe(connection, sql`FROM ${relation}`))

/**
 * Where the least value of a table that may forget has risen, it is a window that moves on: what has left it is not gone from
 * those who have read it, nor is what it still has of the part in which it begins all of that part.
 */
function differing({ before, after }: Sides, { type }: Column, isWindow: boolean): Sql {
  const edge =
    isWindow && hasParts(type)
      ? sql` AND CASE WHEN (SELECT min(low) FROM ${before}) < (SELECT min(low) FROM ${after})
        THEN coalesce(b.bucket, a.bucket) > (SELECT arg_min(bucket, low) FROM ${after})
        ELSE EXISTS (SELECT 1 FROM ${after}) END`
      : sql.empty
  return sql`
    SELECT least(b.low, a.low) AS low, greatest(b.high, a.high) AS high
    FROM ${before} b FULL JOIN ${after} a ON b.bucket IS NOT DISTINCT FROM a.bucket
    WHERE (b.n IS DISTINCT FROM a.n OR b.h IS DISTINCT FROM a.h)${edge}`
}

/** A table, or its profiles. */
interface Sides {
  readonly before: Sql
  readonly after: Sql
}

/** The rows of which nothing is said, since they lie where the table now begins, or before that. */
const lostBelow = ({ before, after }: Sides): Sql => sql`
  SELECT sum(b.n - coalesce(a.n, 0)) AS n, CAST(min(b.low) AS VARCHAR) AS low, CAST(max(b.high) AS VARCHAR) AS high
  FROM ${before} b LEFT JOIN ${after} a ON b.bucket IS NOT DISTINCT FROM a.bucket
  WHERE b.n > coalesce(a.n, 0) AND (NOT EXISTS (SELECT 1 FROM ${after})
    OR ((SELECT min(low) FROM ${before}) < (SELECT min(low) FROM ${after})
      AND b.bucket <= (SELECT arg_min(bucket, low) FROM ${after})))`
