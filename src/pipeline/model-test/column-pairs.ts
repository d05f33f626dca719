// Which columns of a sample stand in an input, and conditions on its rows by them.

import type { TracedColumn } from '../../compiler/lineage/trace.ts'
import { sameName } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'

export interface ColumnPair {
  readonly own: string
  readonly theirs: string
}

export const pairsWith = (traced: readonly TracedColumn[], input: string): readonly ColumnPair[] =>
  traced
    .flatMap((column) => originsOf(column).map((origin) => ({ ...origin, own: column.column })))
    .filter(({ model }) => sameName(model, input))
    .map(({ own, column }) => ({ own, theirs: column }))

/** All columns that it comes from, near and far: a column that joins a table may come from that table. */
function originsOf(column: TracedColumn): readonly TracedColumn[] {
  const found = new Set<TracedColumn>()
  const open = [...(column.from ?? [])]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(next)) continue
    found.add(next)
    open.push(...(next.from ?? []))
  }
  return [...found]
}

/** True of rows `d` that have the values of a row of the sample. */
export function wayBy(sample: Sql, pairs: readonly ColumnPair[]): Sql {
  const equal = pairs.map(
    ({ own, theirs }) => sql`s.${sql.ident(own)} IS NOT DISTINCT FROM d.${sql.ident(theirs)}`,
  )
  return sql`EXISTS (SELECT 1 FROM ${sample} AS s WHERE ${sql.all(equal)})`
}

/** True of rows `d` that are found. */
export async function wayTo(connection: Connection, found: Sql): Promise<Sql> {
  const columns = await connection.columnsOf(sql`FROM ${found}`)
  return wayBy(
    found,
    columns.map(({ name }) => ({ own: name, theirs: name })),
  )
}

/** Those whose values stand in one row of the input: a number that is counted may stand in any column, by chance. */
export async function pairsInOneRow(
  connection: Connection,
  sample: Sql,
  input: string,
  pairs: readonly ColumnPair[],
): Promise<readonly ColumnPair[]> {
  const isNamesake = ({ own, theirs }: ColumnPair) => Number(sameName(own, theirs))
  let found: readonly ColumnPair[] = []
  for (const pair of pairs.toSorted((a, b) => isNamesake(b) - isNamesake(a))) {
    const more = [...found, pair]
    const isFirst = found.length === 0
    if (isFirst || (await hasAllValues(connection, sample, sql.relation(input), more))) found = more
  }
  return found
}

export async function hasAllValues(
  connection: Connection,
  sample: Sql,
  rows: Sql,
  pairs: readonly ColumnPair[],
): Promise<boolean> {
  const equal = pairs.map(({ own, theirs }) => sql`d.${sql.ident(theirs)} = s.${sql.ident(own)}`)
  const known = pairs.map(({ own }) => sql`s.${sql.ident(own)} IS NOT NULL`)
  const query = sql`
    SELECT count(*) > 0 AND bool_and(EXISTS (SELECT 1 FROM ${rows} AS d WHERE ${sql.all(equal)})) AS all_there
    FROM ${sample} AS s WHERE ${sql.all(known)}`
  const row = await ifRefused(connection.row(query), () => null) // of types that cannot be compared
  return row?.['all_there'] === true
}
