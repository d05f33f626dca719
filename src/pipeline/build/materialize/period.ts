// kind period: whole periods of a column are made anew. The stage holds the rows that the SELECT gives for them now. Of
// those periods whose rows differ, rows of the table are deleted and those of the stage inserted, so that what is gone from
// the SELECT is gone from them, too; a table whose rows are all as they were keeps its version.

import type { PeriodModel } from '../../../core/model.ts'
import { count } from '../../../core/counts.ts'
import { sameName } from '../../../core/names.ts'
import { type Column, type ColumnType, columnType } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import type { PlannedRange, Slice, ValueRange } from '../../../core/step.ts'
import type { Connection } from '../../../duckdb/database.ts'
import { compareByKey, compareRows } from '../../plan/dry-run/compare.ts'
import { warnOfEmptied } from '../../changes/emptied-parts.ts'
import { noteRows, valuesIn, valuesOf } from '../../changes/notes.ts'
import { keepTable, layOver } from '../../plan/dry-run/layers.ts'
import type { RunContext } from '../../run-context.ts'
import { type DryWrite, type DryWritten, keptTable, type Staged, type Written } from './kept.ts'
import type { Materialization } from './materialization.ts'
import { EVERYTHING, isChanged, periodsToMake, rangesToRemember } from './period-ranges.ts'
import { periodStart } from './period-start.ts'
import { continuesTable, countRows, isInRange, isInSome, rowsReplacedIn } from './relation.ts'
import { tableOf } from './renames.ts'
import { comparable, hasKeyOf, STAGE } from './stage.ts'

const PERIODS = sql`temp.main._eider_periods`

export const period: Materialization<PeriodModel> = keptTable({
  holds: 'holds rows of periods that its source may no longer have',
  rowKey: ({ uniqueKey }) => uniqueKey,
  currentRows: (table) => table,
  losses: rowsReplaced,
  ranges: periodsToMake,
  toReplace,
  remembered: rangesToRemember,
  touchedRows,
  write,
  dryWrite,
})

const typeIn = (columns: readonly Column[], name: string): ColumnType =>
  columns.find((column) => sameName(column.name, name))?.type ?? columnType('VARCHAR')

async function rowsReplaced(
  context: RunContext,
  model: PeriodModel,
  slice: Slice,
): Promise<readonly string[]> {
  if (slice === 'whole' || !continuesTable(context, model)) return []
  const { column } = model.period
  const [range = EVERYTHING] = await periodsToMake(context, model, slice)
  return rowsReplacedIn(context, model, isInRange(sql.ident(column), range), { column, ...range })
}

async function toReplace(
  context: RunContext,
  model: PeriodModel,
  planned: readonly PlannedRange[],
): Promise<readonly PlannedRange[]> {
  const ranges = await withoutDriedUp(context, model, planned)
  if (context.allowEmpty || ranges.length === 0) return ranges
  const table = await tableOf(context.connection, model)
  await warnOfEmptied(context, model, table, (value) => isInSome(value, ranges))
  return ranges
}

/**
 * Without the newest periods where the SELECT gives no row of any of them, though nothing says that an input has changed
 * there: an input that forgets, or dries up, would take away one period after the other.
 */
async function withoutDriedUp(
  { connection, allowEmpty, changes }: RunContext,
  model: PeriodModel,
  ranges: readonly PlannedRange[],
): Promise<readonly PlannedRange[]> {
  const last = ranges.at(-1)
  const isNewest = last !== undefined && last.end === null && last.start !== null
  if (!isNewest || allowEmpty || isChanged(last)) return ranges
  const inside = isInRange(sql.ident(model.period.column), last)
  const given = await connection.row(sql`SELECT 1 FROM ${STAGE} WHERE ${inside} LIMIT 1`)
  if (given !== null) return ranges
  const rows = await countRows(
    connection,
    sql`(FROM ${await tableOf(connection, model)} WHERE ${inside})`,
  )
  if (rows === 0) return ranges
  changes.warn(
    model.name,
    `the SELECT gives no rows from ${last.start} on, where the table has ${count(rows, 'row')}: they stay; if they are to go: eider run ${model.name} --allow-empty`,
  )
  return ranges.slice(0, -1)
}

/** Rows among which a key can be there twice after the periods were made anew. A period has all rows of a key that names it. */
function touchedRows(
  { period: { column } }: PeriodModel,
  key: readonly string[],
  table: Sql,
  ranges: readonly ValueRange[],
): Sql {
  const inside = sql`(FROM ${table} WHERE ${isInSome(sql.ident(column), ranges)})`
  if (key.some((name) => sameName(name, column))) return inside
  return sql`(FROM ${table} t WHERE ${hasKeyOf(inside, key, sql`t`)})`
}

/** `rows`: how many rows of the table there are other ones for, be it none. */
async function write(
  context: RunContext,
  model: PeriodModel,
  { staged, ranges }: Staged,
): Promise<Written> {
  const { store, connection } = context
  const { column } = model.period
  const type = typeIn(staged, column)
  const target = await store.tables.written(connection, model.name)
  const before = sql`(FROM ${sql.relation(model.name)} WHERE ${isInSome(sql.ident(column), ranges)})`
  const periods = await keepChanged(connection, model, staged, before)
  let [added, removed] = [0, 0]
  if (periods > 0) {
    const start = (value: Sql) => periodStart(value, model.period, type)
    const value = target.value(column)
    const isChanged = sql`${isInSome(value, ranges)} AND ${start(value)} IN (SELECT period FROM ${PERIODS})`
    await noteRows(context, model, valuesIn(target, isChanged))
    removed = await connection.run(sql`DELETE FROM ${target.table} WHERE ${isChanged}`)
    const fresh = sql`FROM ${STAGE} WHERE ${start(sql.ident(column))} IN (SELECT period FROM ${PERIODS})`
    await noteRows(context, model, valuesOf(sql`(${fresh})`))
    added = await connection.run(
      sql`INSERT INTO ${target.table} BY NAME ${await target.rows(fresh)}`,
    )
  }
  await connection.run(sql`DROP TABLE ${PERIODS}`)
  return { rows: Math.max(removed, added), added, changed: 0, removed }
}

/** Leaves in PERIODS the start of each period with other rows in the stage than before; returns how many there are. */
async function keepChanged(
  connection: Connection,
  model: PeriodModel,
  staged: readonly Column[],
  before: Sql,
): Promise<number> {
  const { column } = model.period
  const values = sql.join(
    staged.map((one) => sql`${comparable(sql`r`, one)} AS ${sql.ident(one.name)}`),
  )
  const names = sql.idents(staged.map(({ name }) => name))
  const start = periodStart(sql.ident(column), model.period, typeIn(staged, column))
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_periods AS
    SELECT DISTINCT ${start} AS period
    FROM (
      SELECT ${names} FROM (
        SELECT ${values}, 1 AS _eider_d FROM ${STAGE} r
        UNION ALL SELECT ${values}, -1 FROM ${before} r)
      GROUP BY ${names} HAVING sum(_eider_d) <> 0)`)
  return countRows(connection, PERIODS)
}

async function dryWrite(
  context: RunContext,
  model: PeriodModel,
  { ranges, table, unique }: DryWrite,
): Promise<DryWritten> {
  const { connection } = context
  const {
    uniqueKey: key,
    period: { column },
  } = model
  const stage = await keepTable(connection, '_eider_stage', unique)
  const inside = isInSome(sql.ident(column), ranges)
  await layOver(
    connection,
    model.name,
    sql`FROM ${table} WHERE ${inside} IS NOT TRUE UNION ALL BY NAME FROM ${stage}`,
  )
  const replaced = { before: sql`(FROM ${table} WHERE ${inside})`, after: stage }
  const changes =
    key.length > 0
      ? await compareByKey(connection, { ...replaced, key })
      : ((await compareRows(connection, replaced)) ?? NOTHING)
  return { changes, writes: null, added: changes.inserted - changes.removed }
}

const NOTHING = { inserted: 0, changed: 0, removed: 0, key: [], sample: [] }
