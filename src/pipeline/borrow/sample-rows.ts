// Which rows are in a sample: the same ones each time, decided by a hash of a row or of one of its columns.

import { limits } from '../../core/limits.ts'
import type { CompiledProject } from '../../core/model.ts'
import { sameName, splitModelName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
import type { Sample } from './sample.ts'

/** A WHERE clause for a relation with these columns; null: it is read whole. */
export function sampled(sample: Sample, columns: readonly Pick<Column, 'name'>[]): Sql | null {
  const { by, share } = sample
  const taken = by === null ? columns : columns.filter(({ name }) => sameName(name, by))
  if (taken.length === 0) return null
  const names = sql.idents(taken.map(({ name }) => name))
  return sql`WHERE hash(${names}) % 10000 < ${sql.value(share)}`
}

/** Tables of sources, each a view (compiler/sources/known-sources.ts), become views of a share of their rows. */
export async function sampleSources(
  connection: Connection,
  { external }: Pick<CompiledProject, 'external'>,
  sample: Sample,
): Promise<void> {
  const tables = (external?.tables ?? []).filter(
    ({ name }) => external?.problems.has(name) !== true,
  )
  for (const { name, columns } of tables) {
    const { schema: source, table } = splitModelName(name)
    const view = sql.ident(source, 'main', table)
    const only = sampled(sample, columns)
    if (only === null || !(await isLong(connection, view))) continue
    const whole = `_eider_whole_${table}`
    await connection.run(sql`ALTER VIEW ${view} RENAME TO ${sql.ident(whole)}`)
    const rows = sql`FROM ${sql.ident(source, 'main', whole)}`
    await connection.run(sql`CREATE VIEW ${view} AS SELECT * ${rows} ${only}`)
  }
}

/** A sample of a short list, such as that of countries, would leave little that joins with it. */
async function isLong(connection: Connection, relation: Sql): Promise<boolean> {
  const least = sql.value(limits.sampledFromRows)
  const row = await connection.row(
    sql`SELECT count(*) AS n FROM (SELECT 1 FROM ${relation} LIMIT ${least})`,
  )
  return numberOf(row?.['n']) >= limits.sampledFromRows
}
