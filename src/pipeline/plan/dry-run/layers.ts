// Relations that replace those of the warehouse for the length of a plan: views and tables in memory
// under the names of the models.

import { type ModelName, sameName } from '../../../core/names.ts'
import type { Column } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import type { Connection } from '../../../duckdb/database.ts'
import { relationOf } from '../../build/materialize/relation.ts'

/** Replaces what stands under the name. */
export async function layOver(
  connection: Connection,
  name: ModelName,
  query: Sql,
  as: 'view' | 'table' = 'view',
): Promise<void> {
  await connection.run(sql`DROP VIEW IF EXISTS ${relationOf(name)}`)
  const what = as === 'view' ? sql`VIEW` : sql`TABLE`
  await connection.run(sql`CREATE ${what} ${relationOf(name)} AS (${query}\n)`)
}

/** The table as it is once its columns are brought in line; others that it has stay. */
export function adaptedTable(table: Sql, from: readonly Column[], to: readonly Column[]): Sql {
  const changes = to.flatMap(({ name, type }) => {
    const old = from.find((column) => sameName(column.name, name))
    return old === undefined || old.type === type
      ? []
      : [sql`CAST(${sql.ident(old.name)} AS ${sql.type(type)}) AS ${sql.ident(old.name)}`]
  })
  const added = to
    .filter(({ name }) => !from.some((column) => sameName(column.name, name)))
    .map(({ name, type }) => sql`, CAST(NULL AS ${sql.type(type)}) AS ${sql.ident(name)}`)
  if (changes.length + added.length === 0) return table
  const replaced = changes.length === 0 ? sql.empty : sql` REPLACE (${sql.join(changes)})`
  return sql`(SELECT *${replaced}${sql.join(added, sql.empty)} FROM ${table})`
}

/** A temporary table with a unique name, so that later models do not overwrite it. */
export async function keepTable(
  connection: Connection,
  name: string,
  unique: number,
): Promise<Sql> {
  const kept = `${name}_${unique}`
  await connection.run(
    sql`ALTER TABLE ${sql.ident('temp', 'main', name)} RENAME TO ${sql.ident(kept)}`,
  )
  return sql.ident('temp', 'main', kept)
}
