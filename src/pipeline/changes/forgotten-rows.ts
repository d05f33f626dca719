// Rows that a table has lost below all that it has now, where a file or a source decides what it has: whether these were
// wrong or are only forgotten nobody can tell, so what was made of them stays, and that is said.

import type { Model } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { Sql } from '../../core/sql.ts'
import { numberOf } from '../../duckdb/values.ts'
import type { RunContext } from '../run-context.ts'
import { followingOf } from './following.ts'
import { isForgottenOutside } from './forgets.ts'
import { countedRows } from './left-rows.ts'

/** `lost`: a query of their number "n", "low" and "high" of the column. */
export async function warnOfForgotten(
  { project, connection, changes }: RunContext,
  model: Model,
  column: Pick<Column, 'name'>,
  lost: Sql,
): Promise<void> {
  if (!isForgottenOutside(project, model)) return
  const readers = [...project.models.values()].filter((reader) =>
    followingOf(project, reader)?.followed.some(
      (one) => one.model === model.name && sameName(one.column, column.name),
    ),
  )
  const row = readers.length === 0 ? null : await connection.row(lost)
  if (row == null) return
  const n = numberOf(row['n'] ?? 0)
  if (n === 0) return
  const names = readers.map(({ name }) => name).toSorted()
  changes.warn(
    model.name,
    `${countedRows(row, column.name)} of its beginning ${n === 1 ? 'is' : 'are'} gone, and a file or a source may only have forgotten ${n === 1 ? 'it' : 'them'}, so ${names.join(', ')} ${names.length === 1 ? 'keeps' : 'keep'} what was made of ${n === 1 ? 'it' : 'them'}; if ${n === 1 ? 'it was' : 'they were'} wrong: eider run ${names[0]!} --start VALUE --end VALUE`,
  )
}
