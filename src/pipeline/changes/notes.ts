// What a build changes of a table, said by who builds it while both the old and the new rows are there, and recorded with
// the versions of the table at the end of the build. What nobody says may be anything.

import type { Model } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { ColumnChange } from '../../store/changes.ts'
import type { Store } from '../../store/store.ts'
import type { WrittenTable } from '../../store/table-storage.ts'
import type { RunContext } from '../run-context.ts'
import { rangesIn } from './ranges.ts'

/** Columns of the table of a model that others follow. Few tables have any, and nothing is done for the rest. */
export const followedColumns = (
  { store }: { readonly store: Pick<Store, 'state'> },
  model: Model,
): readonly Column[] =>
  store.state.changes
    .columnsOf(model.name)
    .flatMap((column) => model.columns.find(({ name }) => sameName(name, column)) ?? [])

/**
 * Call this where rows are about to go and where they have come: `rows` gives a query of the values of a column, as "v".
 * For a model that nobody follows nothing is asked.
 */
export async function noteRows(
  context: Pick<RunContext, 'store' | 'connection' | 'changes'>,
  model: Model,
  rows: (column: string) => Sql,
): Promise<void> {
  for (const { name, type } of followedColumns(context, model))
    context.changes.add(model.name, name, await rangesIn(context.connection, rows(name), type))
}

/** Of the rows of a relation. */
export const valuesOf =
  (relation: Sql) =>
  (column: string): Sql =>
    sql`SELECT ${sql.ident(column)} AS v FROM ${relation}`

/** Of some rows of a table. */
export const valuesIn =
  (of: WrittenTable, condition: Sql) =>
  (column: string): Sql =>
    sql`SELECT ${of.value(column)} AS v FROM ${of.table} WHERE ${condition}`

/** At the end of a build, in its transaction. */
export async function recordChange(
  context: RunContext,
  model: Model,
  versions: { readonly before: string; readonly after: string },
): Promise<void> {
  const { store, connection, changes } = context
  const noted = changes.take(model.name)
  if (versions.before === versions.after) return
  const said = store.state.changes
    .columnsOf(model.name)
    .map((column): ColumnChange => ({ column, ranges: noted.get(column) ?? null }))
  await store.state.changes.record(connection, model.name, versions, said)
}
