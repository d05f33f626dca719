// How the rows of a relation lie in its file.

import type { StoredRows } from '../../core/snapshot.ts'

/** The one table of a published file. */
const SNAPSHOT_TABLE = 'rows'

export const fileRows: StoredRows = {
  tableOf: (name) => [name, 'main', SNAPSHOT_TABLE],
  inKeyOrder: true,
  ownFilesOnly: true,
}
