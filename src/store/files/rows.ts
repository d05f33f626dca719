// How the rows of a relation lie in its file.
//
// A file that is written whole has one table, `rows`. Where rows have changed that do not come last, `rows` is a view, in
// the order of the key, of two tables that have each row once: `most`, in that order too, and `few`. A reader who needs
// no order, or makes one, reads the view `rows_in_any_order`. `changed_keys` has the keys of the rows that have changed since
// a file that this one continues, for those who compare both.

import type { StoredRows } from '../../core/snapshot.ts'
import { sql } from '../../core/sql.ts'

const SNAPSHOT_TABLE = 'rows'
export const MOST = 'most'
export const FEW = 'few'
export const IN_ANY_ORDER = 'rows_in_any_order'
export const CHANGED_KEYS = 'changed_keys'
/** The column with the file that another one continues. */
export const SINCE = '_eider_since'

export const fileRows: StoredRows = {
  tableOf: (name) => [name, 'main', SNAPSHOT_TABLE],
  partsOf: ({ apart }, name) =>
    apart === undefined || apart.rows === 0
      ? null
      : { all: [name, 'main', IN_ANY_ORDER], most: [name, 'main', MOST], few: [name, 'main', FEW] },
  keysBetween({ apart, key }, { file }, name) {
    const from = apart?.since?.indexOf(file) ?? -1
    if (from < 0) return null
    const files = sql.values(apart!.since!.slice(from))
    const table = sql.ident(name, 'main', CHANGED_KEYS)
    return sql`SELECT DISTINCT ${sql.idents(key)} FROM ${table} WHERE ${sql.ident(SINCE)} IN (${files})`
  },
  inKeyOrder: true,
  ownFilesOnly: true,
}
