// kind scd2: each version that a row has had, with the time from which and until which it was valid.
//
// A version begins and ends at the start of a run: that is when the change was seen. All changes of one run have the
// same time, so the end of a version is the beginning of the next. Times never run backwards in a table, even when the
// clock of the machine does. With `@valid_from` rows bring their times along (versions-by-time.ts).
//
// What a run changes of a table is found first and then written, so that a plan finds the same.

import type { Scd2Model } from '../../../core/model.ts'
import { columnType } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { textOf } from '../../../duckdb/values.ts'
import { noteRows, valuesOf } from '../../changes/notes.ts'
import { compareByKey } from '../../plan/dry-run/compare.ts'
import { keepTable, layOver } from '../../plan/dry-run/layers.ts'
import type { RunContext } from '../../run-context.ts'
import { type DryWrite, type DryWritten, keptTable, type Staged, type Written } from './kept.ts'
import type { Materialization } from './materialization.ts'
import { countRows } from './relation.ts'
import { differs, hasKeyOf, sameValues, STAGE } from './stage.ts'
import {
  comparedColumns,
  currentRows,
  ENDS,
  OPENINGS,
  onVersion,
  type Place,
  findByTime,
  firstByTime,
  tableByTime,
  versionKey,
} from './versions-by-time.ts'

const TIME = columnType('TIMESTAMP WITH TIME ZONE')

export const scd2: Materialization<Scd2Model> = keptTable({
  holds: 'holds the history of its rows',
  rowKey: () => [], // each version of a row has its key
  currentRows,
  firstRows: ({ startedAt }, stage, model, staged) =>
    model.validFrom === null
      ? versionsFrom(timeOf(startedAt), stage)
      : firstByTime(model, model.validFrom, { stage, staged }),
  losses: () => Promise.resolve([]),
  write,
  dryWrite,
})

/** Closes versions that changed or vanished, opens new ones. `rows`: how many versions it closed or opened. */
async function write(context: RunContext, model: Scd2Model, staged: Staged): Promise<Written> {
  const { connection, store } = context
  const { name, uniqueKey, validFrom } = model
  const table = sql.relation(name)
  const query = validFrom === null ? null : await tableByTime(context, model, validFrom, table)
  if (query !== null) {
    const statement = sql`CREATE OR REPLACE TABLE ${table} AS ${query}`
    await store.tables.create(connection, name, { query, statement })
  }
  await findVersions(context, model, { ...staged, table })
  const noteTouched = async () => {
    const isIn = (found: Sql) => hasKeyOf(found, versionKey(model), sql`t`)
    const touched = sql`${table} t WHERE ${isIn(ENDS)} OR ${isIn(OPENINGS)}`
    // Of a table that was made once more nobody knows what differs.
    if (query === null) await noteRows(context, model, valuesOf(touched))
  }
  await noteTouched()
  const stored = await store.tables.written(connection, name)
  const ends = await stored.rows(sql`FROM ${ENDS}`)
  const openings = await stored.rows(sql`FROM ${OPENINGS}`)
  const ended = await connection.run(sql`
    UPDATE ${stored.table} AS t SET valid_to = s.valid_to, is_current = s.is_current
    FROM (${ends}) s WHERE s.valid_to IS DISTINCT FROM s.valid_from AND ${onVersion(model)}`)
  let removed = 0
  if (validFrom !== null) {
    const key = sql.idents([...uniqueKey, 'valid_from'])
    const gone = sql`SELECT ${key} FROM (${openings})
      UNION ALL SELECT ${key} FROM (${ends}) WHERE valid_to = valid_from`
    removed = await connection.run(
      sql`DELETE FROM ${stored.table} AS t USING (${gone}) s WHERE ${onVersion(model)}`,
    )
  }
  const opened = await connection.run(sql`INSERT INTO ${stored.table} BY NAME ${openings}`)
  await noteTouched()
  await connection.run(sql`DROP TABLE ${ENDS}; DROP TABLE ${OPENINGS}`)
  return { rows: ended + opened, added: opened, changed: ended, removed }
}

/** Leaves what is to be written in ENDS and OPENINGS. */
const findVersions = (context: RunContext, model: Scd2Model, place: Place): Promise<void> =>
  model.validFrom === null
    ? findNow(context, model, place)
    : findByTime(context, model, model.validFrom, place)

async function findNow(
  context: RunContext,
  model: Scd2Model,
  { table, staged }: Place,
): Promise<void> {
  const { connection } = context
  const { uniqueKey } = model
  const first = sql.ident(uniqueKey[0])
  const { time, ahead } = await nextTime(context, table)
  const onKey = sameValues(uniqueKey, sql`t`, sql`s`)
  const differ = differs(comparedColumns(model, staged), uniqueKey)
  // A version without a row in the stage differs from it in all columns.
  const join = model.deletes === 'keep' ? sql`JOIN` : sql`LEFT JOIN`
  const key = sql.join(uniqueKey.map((name) => sql`t.${sql.ident(name)}`))
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_ends AS
    SELECT ${key}, t.valid_from, ${time} AS valid_to, false AS is_current
    FROM ${currentRows(table)} t ${join} ${STAGE} s ON ${onKey}
    WHERE s.${first} IS NULL OR ${differ}`)
  const opening = sql`(SELECT s.* FROM ${STAGE} s LEFT JOIN ${currentRows(table)} t ON ${onKey}
    WHERE t.${first} IS NULL OR ${differ})`
  await connection.run(
    sql`CREATE OR REPLACE TEMP TABLE _eider_openings AS ${versionsFrom(time, opening)}`,
  )
  if (ahead === null) return
  const found = await connection.row(sql`SELECT 1 FROM (
    SELECT 1 FROM ${ENDS} UNION ALL SELECT 1 FROM ${OPENINGS}) LIMIT 1`)
  if (found !== null) context.changes.warn(model.name, textOfAhead(model, ahead))
}

/** No version may begin before the one that it replaces, so a clock that was once ahead stays in all that follow. */
const textOfAhead = ({ name, expose }: Scd2Model, last: string): string =>
  `the history has times up to ${last}, which is in the future, by a clock that was ahead: what changes now counts from then on, and not from today; ${
    expose === null ? '' : `go back to the state of before: eider restore ${name} --at RUN; or `
  }correct valid_from and valid_to by hand, then: eider publish ${name}`

async function dryWrite(
  context: RunContext,
  model: Scd2Model,
  { unique, table: before, ...staged }: DryWrite,
): Promise<DryWritten> {
  const { connection } = context
  const { name, uniqueKey: key, validFrom } = model
  const query = validFrom === null ? null : await tableByTime(context, model, validFrom, before)
  const table = query === null ? before : sql`(${query})`
  await findVersions(context, model, { ...staged, table })
  const ends = await keepTable(connection, '_eider_ends', unique)
  const openings = await keepTable(connection, '_eider_openings', unique)
  const isOpened = hasKeyOf(openings, versionKey(model), sql`t`)
  await layOver(
    connection,
    name,
    sql`SELECT t.* REPLACE (CASE WHEN s.is_current IS NULL THEN t.valid_to ELSE s.valid_to END AS valid_to,
        coalesce(s.is_current, t.is_current) AS is_current)
      FROM ${table} t LEFT JOIN ${ends} s ON ${onVersion(model)}
      WHERE NOT ${isOpened} AND s.valid_to IS DISTINCT FROM t.valid_from
      UNION ALL BY NAME FROM ${openings}`,
  )
  const changes = await compareByKey(
    connection,
    validFrom === null
      ? {
          before: currentRows(before),
          after: sql`(SELECT * EXCLUDE (valid_from, valid_to, is_current)
            FROM ${currentRows(sql.relation(name))})`,
          key,
        }
      : { before, after: sql.relation(name), key: [...key, 'valid_from'] },
  )
  const opened = await countRows(connection, openings)
  const corrected = await countRows(connection, sql`(FROM ${table} t WHERE ${isOpened})`)
  const gone = await countRows(connection, sql`(FROM ${ends} WHERE valid_to = valid_from)`)
  const touched = opened + (await countRows(connection, ends))
  return { changes, writes: query !== null || touched > 0, added: opened - corrected - gone }
}

/** When the run started, or just after the last change in the table where that is later. `ahead`: that is in the future. */
async function nextTime(
  { connection, startedAt }: RunContext,
  target: Sql,
): Promise<{ readonly time: Sql; readonly ahead: string | null }> {
  const last = sql`max(greatest(valid_from, valid_to))`
  const start = timeOf(startedAt)
  // Clocks of machines that share a table differ a little.
  const row = await connection.row(sql`
    SELECT CAST(greatest(${start}, ${last} + INTERVAL 1 MICROSECOND) AS VARCHAR) AS time,
      CAST(CASE WHEN ${last} > ${start} + INTERVAL 1 HOUR THEN ${last} END AS VARCHAR) AS ahead
    FROM ${target}`)
  const ahead = row?.['ahead'] == null ? null : textOf(row['ahead'])
  return { time: sql.value(textOf(row?.['time']), TIME), ahead }
}

const timeOf = (date: Date): Sql => sql.value(date.toISOString(), TIME)

/** Versions that are valid from `time` on. */
const versionsFrom = (time: Sql, rows: Sql): Sql => sql`
  SELECT *, ${time} AS valid_from, CAST(NULL AS ${sql.type(TIME)}) AS valid_to, true AS is_current FROM ${rows}`
