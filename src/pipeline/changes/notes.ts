// What a build changes of a table, said by who builds it while both the old and the new rows are there, and recorded with
// the versions of the table at the end of the build. What nobody says may be anything.

import { limits } from '../../core/limits.ts'
import type { Model } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { TouchedColumn } from '../../store/changes.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import type { Store } from '../../store/store.ts'
import type { WrittenTable } from '../../store/table-storage.ts'
import type { RunContext } from '../run-context.ts'
import { forgetValues, isKey, noteValues, recordKeys } from './keys.ts'
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
 * For a model that nobody follows, and that is not exposed with a key, nothing is asked.
 */
export async function noteRows(
  context: Pick<RunContext, 'store' | 'connection' | 'changes'>,
  model: Model,
  rows: (column: string) => Sql,
): Promise<void> {
  for (const { name, type } of followedColumns(context, model))
    context.changes.add(model.name, name, await rangesIn(context.connection, rows(name), type))
  await noteKeys(context, model, rows)
}

/** The same for those who do not follow ranges: for what is published, and for tables that are kept up to date. */
export async function noteKeys(
  context: Pick<RunContext, 'store' | 'connection' | 'changes'>,
  model: Model,
  rows: (column: string) => Sql,
): Promise<void> {
  await noteValues(context, model, rows)
  const { store, connection, changes } = context
  const { name, expose } = model
  if (!store.snapshots.takesChanges) return
  for (const column of expose?.key ?? []) {
    const most = limits.changedValues
    const found = await connection.row(sql`
      SELECT CAST(to_json(list(v)) AS VARCHAR) AS texts, count(*) AS n FROM (
        SELECT DISTINCT CAST(v AS VARCHAR) AS v FROM (${rows(column)}) LIMIT ${sql.value(most + 1)})`)
    const n = numberOf(found?.['n'])
    changes.keys.add(name, column, n > most ? null : textOf(found?.['texts'] ?? '[]'))
  }
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
  changes.keys.lead(model.name, versions)
  const isDoubted = changes.takeDoubt(model.name)
  const hasGone = changes.takeLost(model.name)
  if (versions.before === versions.after) return forgetValues(context, model)
  const said = store.state.changes
    .columnsOf(model.name)
    .map((column): TouchedColumn => ({ column, ranges: noted.get(column) ?? null, hasGone }))
    .map((one) => (isDoubted && isKey(one.column) ? { ...one, ranges: null } : one))
  const known = await recordKeys(context, model, versions, said)
  await store.state.changes.record(connection, model.name, versions, known)
}
