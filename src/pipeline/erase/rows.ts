// The rows of a table that a condition means, and their removal.

import { aliasOf, type Condition } from '../../compiler/condition.ts'
import { kinds } from '../../core/kinds.ts'
import type { EventsModel, Model } from '../../core/model.ts'
import { foldCase } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
import { type Column, columnType, isReceivedAt } from '../../core/relation.ts'
import type { TouchedColumn } from '../../store/changes.ts'
import { valuesIn } from '../changes/notes.ts'
import { rangesIn } from '../changes/ranges.ts'
import type { TableStorage, WrittenTable } from '../../store/table-storage.ts'
import { countRows } from '../build/materialize/relation.ts'
import { fields } from '../flush/event-columns.ts'
import { dropBatch, GIVEN, isOf, judgeRejected } from '../flush/load-batch.ts'
import type { ReachedModel } from './reach.ts'

interface Meaning {
  readonly condition: Condition
  /** The model over whose columns the condition was written. */
  readonly model: Model
}

const ROW = sql.ident('_eider_row')

/** `rowid` of the rows that are meant, under the name ROW. */
function meantRows(
  { condition, model }: Meaning,
  { ways }: ReachedModel,
  target: WrittenTable,
): Sql {
  const each = ways.map((way) => {
    const columns = condition.columns.map(
      (name) => sql`${target.value(way.get(foldCase(name))!)} AS ${sql.ident(name)}`,
    )
    const parts = sql.join([sql`rowid AS ${ROW}`, ...columns])
    return sql`SELECT ${ROW} FROM (SELECT ${parts} FROM ${target.table}) AS ${aliasOf(model)}
      WHERE (${sql.body(condition.body)}\n)`
  })
  return sql.join(each, sql` UNION ALL `)
}

/**
 * A condition on the table. Of an scd2 table all versions of a row are meant of which one is: what a person is called now is
 * not what they were called before.
 */
function isMeant(meaning: Meaning, reached: ReachedModel, target: WrittenTable): Sql {
  const { model } = reached
  const rows = meantRows(meaning, reached, target)
  if (model.kind !== 'scd2') return sql`rowid IN (${rows})`
  const key = sql.join(model.uniqueKey.map((name) => sql.ident(name)))
  return sql`(${key}) IN (SELECT ${key} FROM ${target.table} WHERE rowid IN (${rows}))`
}

export async function countMeant(
  connection: Connection,
  tables: TableStorage,
  meaning: Meaning,
  reached: ReachedModel,
): Promise<number> {
  const target = await tables.written(connection, reached.model.name)
  return countRows(connection, sql`${target.table} WHERE ${isMeant(meaning, reached, target)}`)
}

/** Counts the rows that are meant and came in since then: 0 where the table does not say when rows come in. */
export async function countMeantSince(
  connection: Connection,
  tables: TableStorage,
  meaning: Meaning,
  { at, ...reached }: ReachedModel & { readonly at: Date },
): Promise<number> {
  const column = reached.model.columns.find(isReceivedAt)
  if (reached.model.kind !== 'events' || column === undefined) return 0
  const target = await tables.written(connection, reached.model.name)
  const since = sql.value(at.toISOString().slice(0, -1), columnType('TIMESTAMP'))
  return countRows(
    connection,
    sql`${target.table} WHERE ${isMeant(meaning, reached, target)} AND ${target.value(column.name)} >= ${since}`,
  )
}

/** Which values of these columns the rows have that are meant: what follows one of them reads there again. */
export async function touchedByMeant(
  connection: Connection,
  tables: TableStorage,
  meaning: Meaning,
  { columns, ...reached }: ReachedModel & { readonly columns: readonly Column[] },
): Promise<readonly TouchedColumn[]> {
  const target = await tables.written(connection, reached.model.name)
  const values = valuesIn(target, isMeant(meaning, reached, target))
  const found: TouchedColumn[] = []
  for (const { name: column, type } of columns)
    found.push({ column, ranges: await rangesIn(connection, values(column), type) })
  return found
}

/** In the transaction of the caller. */
export async function deleteMeant(
  connection: Connection,
  tables: TableStorage,
  meaning: Meaning,
  reached: ReachedModel,
): Promise<number> {
  const target = await tables.written(connection, reached.model.name)
  return connection.run(sql`DELETE FROM ${target.table} WHERE ${isMeant(meaning, reached, target)}`)
}

/** Whether rows of the table are deleted; others are made from nothing by the run that follows. */
export const isDeletedFrom = ({ model }: ReachedModel): boolean => kinds[model.kind].keepsRows

interface RejectedCount {
  readonly meant: number
  /** Nobody can tell whether these are meant, since a value cannot be read, or is missing. */
  readonly unclear: number
}

/** Counts events that did not fit the model. `remove`: deletes them, in the transaction of the caller; `unclear`: these too. */
export async function rejectedEvents(
  connection: Connection,
  tables: TableStorage,
  { condition, model }: Meaning & { readonly model: EventsModel },
  remove: { readonly unclear: boolean } | null,
): Promise<RejectedCount> {
  const table = sql`_eider.rejected_events`
  const any = await connection.row(sql`SELECT 1 FROM ${table} WHERE ${isOf(model)} LIMIT 1`)
  if (any === null) return { meant: 0, unclear: 0 }
  await judgeRejected({ connection, model, tables }, table)
  const values = fields(model, sql`typed`, sql`TRY_CAST`, true)
  const judged = sql`(SELECT ${ROW}, (${sql.body(condition.body)}\n) AS _eider_meant
    FROM (SELECT seq AS ${ROW}, ${values} FROM ${GIVEN}) AS ${aliasOf(model)})`
  const row = await connection.row(sql`
    SELECT count(*) FILTER (WHERE _eider_meant) AS meant,
      count(*) FILTER (WHERE _eider_meant IS NULL) AS unclear FROM ${judged}`)
  const found = { meant: numberOf(row?.['meant']), unclear: numberOf(row?.['unclear']) }
  if (remove !== null) {
    const which = remove.unclear ? sql`_eider_meant IS NOT false` : sql`_eider_meant`
    await connection.run(
      sql`DELETE FROM ${table} WHERE rowid IN (SELECT ${ROW} FROM ${judged} WHERE ${which})`,
    )
  }
  await dropBatch(connection)
  return found
}
