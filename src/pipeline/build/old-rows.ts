// `@keep`: rows that are older than a model keeps them. The age counts from the start of the run, back to the beginning of
// the day (for ages in hours: of the hour), so that most runs find nothing new to remove, and models that sum up days read
// a day whole or not at all.

import { count } from '../../core/counts.ts'
import type { Keep, Model } from '../../core/model.ts'
import { type ModelName, sameName } from '../../core/names.ts'
import { type Column, columnType } from '../../core/relation.ts'
import { isInHours, keepOf, type OldRows } from '../../core/retention.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import type { Slice } from '../../core/step.ts'
import { type ColumnValues, NO_VALUES } from '../changes/change-notes.ts'
import { noteForgotten, valuesOfRows } from '../changes/forgotten-values.ts'
import { followedColumns } from '../changes/notes.ts'
import { columnsToNote } from '../changes/read-through.ts'
import { ModelFailure } from '../failure.ts'
import type { RunContext } from '../run-context.ts'
import type { Built } from './materialize/materialization.ts'
import { continuesTable, countRows, relationType } from './materialize/relation.ts'
import { removedToo } from './table-changes.ts'

/** A TIMESTAMP in UTC. */
export function cutoffOf(keep: Keep, { startedAt }: Pick<RunContext, 'startedAt'>): Sql {
  const now = sql.value(startedAt.toISOString().slice(0, -1), columnType('TIMESTAMP'))
  const unit = sql.value(isInHours(keep) ? 'hour' : 'day')
  return sql`date_trunc(${unit}, ${now} - ${sql.value(keep.age, columnType('INTERVAL'))})`
}

/** A condition on rows of the table. */
const isOld = (keep: Keep, context: Pick<RunContext, 'startedAt'>, { value }: WrittenValue): Sql =>
  sql`${value(keep.column)} < ${cutoffOf(keep, context)}`

type WrittenValue = { readonly value: (column: string) => Sql }

const asRead: WrittenValue = { value: (column) => sql.ident(column) }

/** `type`: of the column that says how old a row is. */
function isOldOf(keep: Keep, context: Pick<RunContext, 'startedAt'>, type: string): Sql {
  const old = isOld(keep, context, asRead)
  if (type !== 'DATE') return old
  // A day that is compared with a time is cast, and then every row of it is read.
  return sql`${old} AND ${sql.ident(keep.column)} <= CAST(${cutoffOf(keep, context)} AS DATE)`
}

export const youngRows = (keep: Keep, context: Pick<RunContext, 'startedAt'>, relation: Sql): Sql =>
  sql`FROM ${relation} WHERE (${isOld(keep, context, asRead)}) IS NOT TRUE`

/** Looks for them in the selected models, and changes nothing. */
export async function findOldRows(context: RunContext): Promise<ReadonlyMap<ModelName, OldRows>> {
  const { connection, catalog, selected, project, columnsBefore } = context
  const found = new Map<ModelName, OldRows>()
  for (const name of selected) {
    const keep = keepOf(project.models.get(name)!)
    if (keep === null || relationType(catalog, name) !== 'table') continue
    // One that the run is about to add has no times yet.
    const column = (await columnsBefore(connection, name))?.find((one) => one.name === keep.column)
    if (column === undefined) continue
    const old = await countOld(connection, context, name, { keep, type: column.type })
    if (old !== null) found.set(name, old)
  }
  return found
}

/** Before any row comes: those that are too old when they come have been read by nobody. */
export async function findOldValues(context: RunContext): Promise<void> {
  const { catalog, connection, columnsBefore, project } = context
  for (const name of context.selected) {
    const model = project.models.get(name)!
    if (relationType(catalog, name) !== 'table' || !isCut(context, model)) continue
    const columns = (await columnsBefore(connection, name)) ?? []
    context.oldValues.set(name, await oldValues(context, model, columns))
  }
}

/** Whether rows go of it that others may have read by their values. */
const isCut = (context: RunContext, model: Model): boolean =>
  keepOf(model) !== null && columnsToNote(context, model).length > 0

/** Values of rows that are too old, of the columns by which others read the table that the name stands for on this connection. */
async function oldValues(
  context: RunContext,
  model: Model,
  columns: readonly Column[],
): Promise<ColumnValues> {
  const keep = keepOf(model)!
  const type = columns.find(({ name }) => sameName(name, keep.column))?.type
  if (type === undefined) return NO_VALUES
  const old = sql`FROM ${sql.relation(model.name)} WHERE ${isOldOf(keep, context, type)}`
  // Most runs find none.
  if ((await context.connection.row(sql`SELECT 1 ${old} LIMIT 1`)) === null) return NO_VALUES
  return valuesOfRows(context, model, sql`(${old})`, columns)
}

/** Of the relation that the name stands for on this connection; null: there are none. */
export async function oldRowsIn(context: RunContext, model: Model): Promise<OldRows | null> {
  const keep = keepOf(model)
  if (keep === null) return null
  const columns = await describe(context.connection, sql`FROM ${sql.relation(model.name)}`)
  const column = columns.find((one) => sameName(one.name, keep.column))
  if (column === undefined) return null
  return countOld(context.connection, context, model.name, { keep, type: column.type })
}

/** null: there are none. Most runs find none, and read nothing: the least values of parts of a column leave out all of them. */
async function countOld(
  connection: Connection,
  context: RunContext,
  name: ModelName,
  { keep, type }: { readonly keep: Keep; readonly type: string },
): Promise<OldRows | null> {
  const relation = sql.relation(name)
  const cutoff = cutoffOf(keep, context)
  const row = await connection.row(sql`
    SELECT count(*) AS old, CAST(${cutoff} AS VARCHAR) AS "before"
    FROM ${relation} WHERE ${isOldOf(keep, context, type)}`)
  const rows = numberOf(row?.['old'])
  if (rows === 0) return null
  const of = await countRows(connection, relation)
  return { rows, of, before: textOf(row?.['before']), age: keep.age }
}

export const oldRowsText = ({ rows, age, before }: OldRows): string =>
  `${count(rows, 'row')} older than ${age}, before ${before} UTC`

export const notStaying = (old: OldRows): string =>
  `${oldRowsText(old)}, ${old.rows === 1 ? 'does' : 'do'} not stay`

const leftOut = (old: OldRows): string =>
  `${oldRowsText(old)}, ${old.rows === 1 ? 'is' : 'are'} left out`

/** A clock that is ahead must not empty a table: throws ModelFailure for more than half of the rows. */
export function refuseToRemoveMost(
  { allowRemoval, startedAt }: Pick<RunContext, 'allowRemoval' | 'startedAt'>,
  model: Model,
  { rows, of, age }: OldRows,
): void {
  if (allowRemoval || rows * 2 <= of) return
  throw new ModelFailure(
    `${rows} of ${count(of, 'row')} are older than ${age} at ${startedAt.toISOString()}, and would be removed; if the clock is right, and this is what you want: eider run ${model.name} --allow-removal`,
    'keep',
  )
}

/** In the transaction of the caller. Returns how many went. */
export async function removeOldRows(context: RunContext, model: Model): Promise<number> {
  const keep = keepOf(model)
  if (keep === null) return 0
  const { connection, store } = context
  const target = await store.tables.written(connection, model.name)
  const value = (column: string) => target.value(column)
  const rows = await connection.run(
    sql`DELETE FROM ${target.table} WHERE ${isOld(keep, context, { value })}`,
  )
  if (rows === 0) return 0
  await noteForgotten(context, model, context.oldValues.get(model.name) ?? NO_VALUES)
  context.changes.keys.lose(model.name)
  // Others have versions that say which of their rows are there.
  if (model.kind === 'events') await store.state.changes.noteRemoved(connection, model.name, rows)
  return rows
}

/** Old rows have gone and none has come, so those who follow the table have nothing to read again. */
export function noteNothingCame({ store, changes }: RunContext, model: Model): void {
  for (const { name } of followedColumns({ store }, model)) changes.add(model.name, name, [])
}

/**
 * Builds, and removes what is too old then, in the transaction of the caller. Throws ModelFailure where a table that had
 * rows, and is made from nothing, would have none.
 */
export async function buildWithoutOld(
  context: RunContext,
  { model, slice }: { readonly model: Model; readonly slice: Slice },
  build: () => Promise<Built>,
): Promise<Built> {
  const keep = keepOf(model)
  if (keep === null) return build()
  const { connection, changes } = context
  const isNew = !continuesTable(context, model)
  const before = isNew ? await rowsOfTable(context, model) : 0
  const built = await build()
  if (isNew) await noteLeftOut(context, model)
  const removed = await removeOldRows(context, model)
  if (removed === 0) return built
  changes.doubt(model.name)
  if (!built.changed) noteNothingCame(context, model)
  if (!isNew && slice === 'whole') return { ...built, ...removedToo(built, removed), changed: true }
  const old = await removedRows(context, keep, removed)
  if (!isNew) {
    changes.warn(model.name, notStaying(old))
    return { ...built, ...removedToo(built, removed), changed: true }
  }
  const rows = await countRows(connection, sql.relation(model.name))
  // A piece of several may well have old rows alone.
  if (rows === 0 && before > 0 && slice === 'whole' && !context.allowRemoval)
    throw new ModelFailure(
      `all that the SELECT gives are ${oldRowsText(old)}, so the table would lose its ${count(before, 'row')} and have none; if that is what you want: eider run ${model.name}${context.fullRefresh ? ' --full-refresh' : ''} --allow-removal`,
      'keep',
    )
  changes.warn(model.name, leftOut(old))
  return { ...built, rows }
}

/** A table that was made from nothing lacks what it leaves out, for whoever reads it. */
async function noteLeftOut(context: RunContext, model: Model): Promise<void> {
  if (!isCut(context, model)) return
  const columns = await describe(context.connection, sql`FROM ${sql.relation(model.name)}`)
  await noteForgotten(context, model, await oldValues(context, model, columns))
}

/** 0 where there is no table. */
async function rowsOfTable({ connection, catalog }: RunContext, { name }: Model): Promise<number> {
  return relationType(catalog, name) === 'table' ? countRows(connection, sql.relation(name)) : 0
}

async function removedRows(context: RunContext, keep: Keep, rows: number): Promise<OldRows> {
  const cutoff = await context.connection.row(
    sql`SELECT CAST(${cutoffOf(keep, context)} AS VARCHAR) AS t`,
  )
  return { rows, of: rows, before: textOf(cutoff?.['t']), age: keep.age }
}

/** The rows that a table has that a run makes of `relation`, and a warning of those that it leaves out. */
export async function planYoung(context: RunContext, model: Model, relation: Sql): Promise<Sql> {
  const keep = keepOf(model)
  if (keep === null) return relation
  const young = sql`(${youngRows(keep, context, relation)})`
  const { connection, changes } = context
  const all = await countRows(connection, relation)
  const old = all - (await countRows(connection, young))
  if (old > 0) changes.warn(model.name, leftOut(await removedRows(context, keep, old)))
  return young
}
