// `@keep`: rows that are older than a model keeps them. The age counts from the start of the run, back to the beginning of
// the day (for ages in hours: of the hour), so that most runs find nothing new to remove, and models that sum up days read
// a day whole or not at all.

import { count } from '../../core/counts.ts'
import type { Keep, Model } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import { columnType } from '../../core/relation.ts'
import { isInHours, keepOf, type OldRows } from '../../core/retention.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import { ModelFailure } from '../failure.ts'
import type { RunContext } from '../run-context.ts'
import { countRows, relationType } from './materialize/relation.ts'

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

/** null: there are none. Most runs find none, and read nothing: the least values of parts of a column leave out all of them. */
async function countOld(
  connection: Connection,
  context: RunContext,
  name: ModelName,
  { keep, type }: { readonly keep: Keep; readonly type: string },
): Promise<OldRows | null> {
  const relation = sql.relation(name)
  const cutoff = cutoffOf(keep, context)
  // A day that is compared with a time is cast, and then every row of it is read.
  const byDay = sql`${sql.ident(keep.column)} <= CAST(${cutoff} AS DATE)`
  const also = type === 'DATE' ? sql` AND ${byDay}` : sql``
  const row = await connection.row(sql`
    SELECT count(*) AS old, CAST(${cutoff} AS VARCHAR) AS "before"
    FROM ${relation} WHERE ${isOld(keep, context, asRead)}${also}`)
  const rows = numberOf(row?.['old'])
  if (rows === 0) return null
  const of = await countRows(connection, relation)
  return { rows, of, before: textOf(row?.['before']), age: keep.age }
}

export const oldRowsText = ({ rows, age, before }: OldRows): string =>
  `${count(rows, 'row')} older than ${age}, before ${before} UTC`

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
  if (rows > 0) context.changes.keys.lose(model.name)
  if (model.kind === 'events') await store.state.changes.noteRemoved(connection, model.name, rows)
  return rows
}
