// The rows of a set, as a FROM item.
//
// Who may read only some of them reads them through this subquery, whatever the request is. The LIMIT lets all rows
// through; it keeps the engine from moving a condition of the request below that of the token, where an error in it, such
// as a division by zero, would tell of a row that is not to be seen.

import { type Sql, sql } from '../../core/sql.ts'
import type { EntitySet } from '../edm/model.ts'

export const tableSql = (set: Pick<EntitySet, 'table' | 'only'>): Sql => only(set, set.table)

/** Those of the earlier state, where two are compared. */
export const tableBeforeSql = (set: Pick<EntitySet, 'tableBefore' | 'only'>): Sql =>
  only(set, set.tableBefore)

function only({ only: filters }: Pick<EntitySet, 'only'>, table: EntitySet['table']): Sql {
  const rows = sql.ident(...table)
  if (filters.length === 0) return rows
  const all = filters.map(
    ({ condition }) => sql`(${sql.body(condition)}
    )`,
  )
  return sql`(SELECT * FROM ${rows} WHERE ${sql.join(all, sql` AND `)} LIMIT 9223372036854775807)`
}
