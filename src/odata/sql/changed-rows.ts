// Two published states of a set, brought down to the rows in which they differ: whatever a delta link asks for, a row
// that is the same in both is no change. `of` names them by their tables.

import { hasOneText } from '../../core/relation.ts'
import type { PublishedRelation, TableName } from '../../core/snapshot.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { BIGINT } from './engine-types.ts'

export interface TwoStates {
  readonly relation: Pick<PublishedRelation, 'key' | 'columns'>
  readonly now: TableName
  readonly before: TableName
}

const NOW = sql.ident('now')
const BEFORE = sql.ident('before')

/** Keys of rows that were added, removed or changed; not more than `limit`. */
export function changedKeysSql({ relation, now, before }: TwoStates, limit: number): Sql {
  const { key, columns } = relation
  const keys = key.map((name) => {
    const column = sql.ident(name)
    return sql`coalesce(${NOW}.${column}, ${BEFORE}.${column}) AS ${column}`
  })
  const missing = [NOW, BEFORE].map((row) => sql`${row}.${sql.ident(key[0]!)} IS NULL`)
  const others = columns.filter(({ name }) => !key.includes(name))
  const differs = others.flatMap(({ name, type }) => {
    const values = [NOW, BEFORE].map((row) => sql`${row}.${sql.ident(name)}`)
    const texts = values.map((value) => sql`CAST(${value} AS VARCHAR)`)
    const isDistinct = ([a, b]: readonly Sql[]) => sql`${a!} IS DISTINCT FROM ${b!}`
    return isWrittenAlike(type) ? [isDistinct(values)] : [isDistinct(values), isDistinct(texts)]
  })
  return sql`SELECT ${sql.join(keys)}
    FROM ${sql.ident(...now)} AS ${NOW} FULL JOIN ${sql.ident(...before)} AS ${BEFORE} ON ${sameKey(key, NOW, BEFORE)}
    WHERE ${sql.any([...missing, ...differs])} LIMIT ${sql.value(limit, BIGINT)}`
}

/** A negative zero is equal to zero, and 30 days to a month. */
const isWrittenAlike = (type: string): boolean => hasOneText(type) || /^(?:BLOB|TIME)$/.test(type)

export const rowsWithKeysSql = (rows: TableName, keys: TableName, key: readonly string[]): Sql =>
  sql`SELECT r.* FROM ${sql.ident(...rows)} AS r SEMI JOIN ${sql.ident(...keys)} AS k ON ${sameKey(key, sql.ident('r'), sql.ident('k'))}`

/** The same of tables with many other rows: of these it reads the key alone. */
export function fewRowsSql(
  tables: readonly TableName[],
  keys: TableName,
  key: readonly string[],
): Sql {
  const found = tables.map((table) => {
    const rows = sql`${sql.ident(...table)} AS r`
    const isMeant = sameKey(key, sql.ident('r'), sql.ident('k'))
    return sql`SELECT r.* FROM ${rows} WHERE r.rowid IN (
      SELECT r.rowid FROM ${rows} SEMI JOIN ${sql.ident(...keys)} AS k ON ${isMeant})`
  })
  return sql.join(found, sql` UNION ALL `)
}

function sameKey(key: readonly string[], one: Sql, other: Sql): Sql {
  const parts = key.map((name) => sql`${one}.${sql.ident(name)} = ${other}.${sql.ident(name)}`)
  return sql.all(parts)
}
