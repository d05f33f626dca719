// Relations that replace those of the warehouse for the length of a plan: views and tables in memory
// under the names of the models.

import { type ModelName, sameName } from '../../../core/names.ts'
import type { Column } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import type { Connection } from '../../../duckdb/database.ts'

/** Replaces what stands under the name. */
export async function layOver(
  connection: Connection,
  name: ModelName,
  query: Sql,
  as: 'view' | 'table' = 'view',
): Promise<void> {
  await connection.run(sql`DROP VIEW IF EXISTS ${sql.relation(name)}`)
  const what = as === 'view' ? sql`VIEW` : sql`TABLE`
  await connection.run(sql`CREATE ${what} ${sql.relation(name)} AS (${query}\n)`)
}

/** The table as it is once its columns are brought in line; others that it has stay. */
export function adaptedTable(table: Sql, from: readonly Column[], to: readonly Column[]): Sql {
  const changes = to.flatMap(({ name, type }) => {
    const old = from.find((column) => sameName(column.name, name))
    return old === undefined || old.type === type
      ? []
      : [sql`CAST(${sql.ident(old.name)} AS ${sql.type(type)}) AS ${sql.ident(old.name)}`]
  })
  const added = to.filter(({ name }) => !from.some((column) => sameName(column.name, name)))
  if (changes.length + added.length === 0) return table
  const replaced = changes.length === 0 ? sql.empty : sql` REPLACE (${sql.join(changes)})`
  const more = added.length === 0 ? sql.empty : sql`, ${sql.nulls(added)}`
  return sql`(SELECT *${replaced}${more} FROM ${table})`
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
