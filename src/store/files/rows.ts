// How the rows of a relation lie in its file.
//
// A file that is written whole has one table, `rows`. Where rows have changed that do not come last, `rows` is a view, in
// the order of the key, of two tables that have each row once: `most`, in that order too, and `few`. A reader who needs
// no order, or makes one, reads the view `rows_in_any_order`.

import type { StoredRows } from '../../core/snapshot.ts'

const SNAPSHOT_TABLE = 'rows'
export const MOST = 'most'
export const FEW = 'few'
export const IN_ANY_ORDER = 'rows_in_any_order'

export const fileRows: StoredRows = {
  tableOf: (name) => [name, 'main', SNAPSHOT_TABLE],
  partsOf: ({ apart }, name) =>
    apart === undefined || apart.rows === 0
      ? null
      : { all: [name, 'main', IN_ANY_ORDER], most: [name, 'main', MOST], few: [name, 'main', FEW] },
  inKeyOrder: true,
  ownFilesOnly: true,
}
