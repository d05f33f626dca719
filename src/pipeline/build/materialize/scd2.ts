// kind scd2: each version that a row has had, with the time from which and until which it was valid.
//
// A version begins and ends at the start of a run: that is when the change was seen. All changes of one run have the
// same time, so the end of a version is the beginning of the next. Times never run backwards in a table, even when the
// clock of the machine does.

import type { Scd2Model } from '../../../core/model.ts'
import { columnType } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { textOf } from '../../../duckdb/values.ts'
import { compareByKey, onChangedKey } from '../../plan/dry-run/compare.ts'
import { keepTable, layOver } from '../../plan/dry-run/layers.ts'
import type { RunContext } from '../../run-context.ts'
import { type DryWrite, type DryWritten, keptTable, type Staged } from './kept.ts'
import type { Materialization } from './materialization.ts'
import { differs, sameValues, STAGE } from './stage.ts'

const CLOSING = sql`temp.main._eider_closing`
const TIME = columnType('TIMESTAMP WITH TIME ZONE')

const currentRows = (table: Sql): Sql => sql`(FROM ${table} WHERE is_current)`

export const scd2: Materialization<Scd2Model> = keptTable({
  holds: 'holds the history of its rows',
  canRebuild: () => false,
  refuseStage: () => Promise.resolve(),
  rowKey: () => [], // each version of a row has its key
  currentRows,
  firstRows: ({ startedAt }, stage) => versionsFrom(timeOf(startedAt), stage),
  losses: () => Promise.resolve([]),
  write,
  dryWrite,
  rowsAdded: ({ inserted, changed }) => inserted + changed,
})

/** Closes versions that changed or vanished, opens new ones. Returns how many versions it closed or opened. */
async function write(context: RunContext, model: Scd2Model, { staged }: Staged): Promise<number> {
  const { connection, store } = context
  const target = sql.relation(model.name)
  const { uniqueKey } = model
  const key = sql.idents(uniqueKey)
  const onKey = sameValues(uniqueKey, sql`t`, sql`s`)
  const time = await nextTime(context, target)
  const keyOfTable = sql.join(uniqueKey.map((name) => sql`t.${sql.ident(name)}`))
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_closing AS
    SELECT ${keyOfTable} FROM ${currentRows(target)} t LEFT JOIN ${STAGE} s ON ${onKey}
    WHERE s.${sql.ident(uniqueKey[0])} IS NULL OR ${differs(staged, uniqueKey)}`)
  const stored = await store.tables.written(connection, model.name)
  const closing = await stored.rows(sql`FROM ${CLOSING}`)
  const closed = await connection.run(sql`
    UPDATE ${stored.table} AS t SET valid_to = ${time}, is_current = false
    FROM (${closing}) s WHERE t.is_current AND ${onKey}`)
  const opening = versionsFrom(
    time,
    sql`(FROM ${STAGE} s WHERE NOT EXISTS
      (SELECT ${key} FROM ${currentRows(target)} t WHERE ${onKey}))`,
  )
  const opened = await connection.run(
    sql`INSERT INTO ${stored.table} BY NAME ${await stored.rows(opening)}`,
  )
  await connection.run(sql`DROP TABLE ${CLOSING}`)
  return closed + opened
}

async function dryWrite(
  context: RunContext,
  model: Scd2Model,
  { table, unique }: DryWrite,
): Promise<DryWritten> {
  const { connection } = context
  const { uniqueKey: key } = model
  const time = await nextTime(context, table)
  const stage = await keepTable(connection, '_eider_stage', unique)
  const before = currentRows(table)
  const changes = await compareByKey(connection, { before, after: stage, key })
  const changed = await keepTable(connection, '_eider_changes', unique)
  const ends = sql`t.is_current AND EXISTS (SELECT 1 FROM ${changed} k WHERE ${onChangedKey(key, sql`t`)})`
  const begins = sql`(FROM ${stage} s WHERE EXISTS (
    SELECT 1 FROM ${changed} k WHERE ${onChangedKey(key, sql`s`)}))`
  await layOver(
    connection,
    model.name,
    sql`SELECT * REPLACE (CASE WHEN ${ends} THEN ${time} ELSE valid_to END AS valid_to,
        is_current AND NOT (${ends}) AS is_current) FROM ${table} t
      UNION ALL BY NAME ${versionsFrom(time, begins)}`,
  )
  return { changes, writes: null }
}

/** When the run started, or just after the last change in the table where that is later. */
async function nextTime({ connection, startedAt }: RunContext, target: Sql): Promise<Sql> {
  const row = await connection.row(sql`
    SELECT CAST(greatest(${timeOf(startedAt)},
      max(greatest(valid_from, valid_to)) + INTERVAL 1 MICROSECOND) AS VARCHAR) AS time
    FROM ${target}`)
  return sql.value(textOf(row?.['time']), TIME)
}

const timeOf = (date: Date): Sql => sql.value(date.toISOString(), TIME)

/** Versions that are valid from `time` on. */
const versionsFrom = (time: Sql, rows: Sql): Sql => sql`
  SELECT *, ${time} AS valid_from, CAST(NULL AS ${sql.type(TIME)}) AS valid_to, true AS is_current FROM ${rows}`
