// What differs between a table and the one that replaces it, where somebody follows it: rows are counted and hashed for
// each day, or part of the numbers, of the column that is followed.

import type { Model } from '../../core/model.ts'
import { type Column, columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'
import { relationType } from '../build/materialize/relation.ts'
import type { RunContext } from '../run-context.ts'
import { followedColumns } from './notes.ts'
import { bucketOf, readRanges, widthOf } from './ranges.ts'

/** `replace` makes the table of the model anew, in the transaction of the caller. */
export async function comparing<T>(
  context: RunContext,
  model: Model,
  replace: () => Promise<T>,
): Promise<T> {
  const { connection, catalog, changes } = context
  const columns =
    relationType(catalog, model.name) === 'table' ? followedColumns(context, model) : []
  const before = columns.length === 0 ? [] : ((await context.columnsBefore(model.name)) ?? [])
  const same = columns.filter((one) =>
    before.some(({ name, type }) => name === one.name && type === one.type),
  )
  const relation = sql.relation(model.name)
  const widths = new Map<Column, Sql>()
  for (const [i, column] of same.entries()) {
    const values = sql`SELECT ${sql.ident(column.name)} AS v FROM ${relation}`
    const width = await fixedWidth(connection, values, column)
    widths.set(column, width)
    await connection.run(
      sql`CREATE OR REPLACE TEMP TABLE ${profile(i)} AS ${profileOf(relation, column, width)}`,
    )
  }
  const result = await replace()
  for (const [i, column] of same.entries()) {
    const after = profileOf(relation, column, widths.get(column)!)
    changes.add(model.name, column.name, await readRanges(connection, differing(profile(i), after)))
    await connection.run(sql`DROP TABLE ${profile(i)}`)
  }
  return result
}

const profile = (i: number) => sql.ident('temp', 'main', `_eider_profile_${i}`)

/** Both tables are cut into the same parts. */
async function fixedWidth(connection: Connection, values: Sql, { type }: Column): Promise<Sql> {
  const row = await connection.row(sql`SELECT CAST(${widthOf(values, type)} AS VARCHAR) AS width`)
  return sql.value(textOf(row?.['width'] ?? '1'), columnType('DOUBLE'))
}

/** NULLs of the column have a part too; they are no values, so a change of them touches nothing. */
const profileOf = (relation: Sql, { name, type }: Column, width: Sql): Sql => sql`
  SELECT ${bucketOf(type, width)} AS bucket, count(*) AS n, sum(CAST(h AS HUGEINT)) AS h, min(v) AS low, max(v) AS high
  FROM (SELECT ${sql.ident(name)} AS v, hash(_eider_row) AS h FROM ${relation} AS _eider_row) WHERE v IS NOT NULL GROUP BY bucket`

const differing = (before: Sql, after: Sql): Sql => sql`
  SELECT least(b.low, a.low) AS low, greatest(b.high, a.high) AS high
  FROM ${before} b FULL JOIN (${after}) a ON b.bucket IS NOT DISTINCT FROM a.bucket
  WHERE b.n IS DISTINCT FROM a.n OR b.h IS DISTINCT FROM a.h`
