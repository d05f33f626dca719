// kind scd2: each version that a row has had, with the time from which and until which it was valid.
//
// A version begins and ends at the start of a run: that is when the change was seen. All changes of one run have the
// same time, so the end of a version is the beginning of the next. Times never run backwards in a table, even when the
// clock of the machine does.

import type { Scd2Model } from '../../../core/model.ts'
import { type Column, columnType } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { textOf } from '../../../duckdb/values.ts'
import { relationOf, type Site } from './relation.ts'
import { differs, identifiers, sameValues, STAGE } from './stage.ts'

const CLOSING = sql`temp.main._eider_closing`
const TIME = columnType('TIMESTAMP WITH TIME ZONE')

export const currentRows = (target: Sql): Sql => sql`(FROM ${target} WHERE is_current)`

/** The staged rows as versions that begin now. */
export const firstVersions = ({ startedAt }: Site, stage = STAGE): Sql =>
  versionsFrom(timeOf(startedAt), stage)

/** Closes versions that changed or vanished, opens new ones. Returns how many versions it closed or opened. */
export async function trackStage(
  site: Site,
  model: Scd2Model,
  columns: readonly Column[],
): Promise<number> {
  const { connection } = site
  const target = relationOf(model.name)
  const { uniqueKey } = model
  const key = identifiers(uniqueKey)
  const onKey = sameValues(uniqueKey, sql`t`, sql`s`)
  const time = await nextTime(site, target)
  const keyOfTable = sql.join(uniqueKey.map((name) => sql`t.${sql.ident(name)}`))
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_closing AS
    SELECT ${keyOfTable} FROM ${currentRows(target)} t LEFT JOIN ${STAGE} s ON ${onKey}
    WHERE s.${sql.ident(uniqueKey[0])} IS NULL OR ${differs(columns, uniqueKey)}`)
  const closed = await connection.run(sql`
    UPDATE ${target} AS t SET valid_to = ${time}, is_current = false
    FROM ${CLOSING} s WHERE t.is_current AND ${onKey}`)
  const opened = await connection.run(sql`
    INSERT INTO ${target} BY NAME ${versionsFrom(
      time,
      sql`(FROM ${STAGE} s WHERE NOT EXISTS
        (SELECT ${key} FROM ${currentRows(target)} t WHERE ${onKey}))`,
    )}`)
  await connection.run(sql`DROP TABLE ${CLOSING}`)
  return closed + opened
}

/** When the run started, or just after the last change in the table where that is later. */
export async function nextTime({ connection, startedAt }: Site, target: Sql): Promise<Sql> {
  const row = await connection.row(sql`
    SELECT CAST(greatest(${timeOf(startedAt)},
      max(greatest(valid_from, valid_to)) + INTERVAL 1 MICROSECOND) AS VARCHAR) AS time
    FROM ${target}`)
  return sql.value(textOf(row?.['time']), TIME)
}

const timeOf = (date: Date): Sql => sql.value(date.toISOString(), TIME)

/** Versions that are valid from `time` on. */
export const versionsFrom = (time: Sql, rows: Sql): Sql => sql`
  SELECT *, ${time} AS valid_from, CAST(NULL AS ${sql.type(TIME)}) AS valid_to, true AS is_current FROM ${rows}`
