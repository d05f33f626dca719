// Rows that a table has lost below all that it has now, where a file or a source decides what it has: whether these were
// wrong or are only forgotten nobody can tell, so what was made of them stays, and that is said.

import { count } from '../../core/counts.ts'
import type { Model } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { Sql } from '../../core/sql.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import type { RunContext } from '../run-context.ts'
import { followingOf } from './following.ts'
import { isForgottenOutside } from './forgets.ts'

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
  const n = numberOf(row?.['n'] ?? 0)
  if (n === 0) return
  const [low, high] = [textOf(row?.['low']), textOf(row?.['high'])]
  const values = `${column.name} ${low === high ? low : `from ${low} to ${high}`}`
  const names = readers.map(({ name }) => name).toSorted()
  changes.warn(
    model.name,
    `${count(n, 'row')} (${values}) of its beginning ${n === 1 ? 'is' : 'are'} gone, and a file or a source may only have forgotten ${n === 1 ? 'it' : 'them'}, so ${names.join(', ')} ${names.length === 1 ? 'keeps' : 'keep'} what was made of ${n === 1 ? 'it' : 'them'}; if ${n === 1 ? 'it was' : 'they were'} wrong: eider run ${names[0]!} --start VALUE --end VALUE`,
  )
}
