// kind append: new rows are added, none is changed. The stage holds the rows from the watermark on, with the lookback;
// those of them that the table has already are left out. Comparing with `>` instead would lose rows that share the
// greatest watermark and come later.

import { sameName } from '../../../core/names.ts'
import type { AppendModel, MergeModel } from '../../../core/model.ts'
import type { RowChanges } from '../../../core/report/planned-changes.ts'
import type { Column } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import type { Slice } from '../../../core/step.ts'
import type { Connection } from '../../../duckdb/database.ts'
import { compareRows } from '../../plan/dry-run/compare.ts'
import { noteRows, valuesIn, valuesOf } from '../../changes/notes.ts'
import { warnOfLeft } from '../../changes/left-rows.ts'
import { keepTable, layOver } from '../../plan/dry-run/layers.ts'
import type { WrittenTable } from '../../../store/table-storage.ts'
import type { ReadAgain } from '../../rules/read-again.ts'
import type { RunContext } from '../../run-context.ts'
import { type DryWrite, type DryWritten, keptTable, type Staged, type Written } from './kept.ts'
import type { Materialization } from './materialization.ts'
import { continuesTable, countRows, isWithin, rowsReplacedIn } from './relation.ts'
import { comparable, differs, sameValues, STAGE } from './stage.ts'

export const append: Materialization<AppendModel> = keptTable({
  holds: 'holds rows that its source may no longer have',
  rowKey: ({ uniqueKey }) => uniqueKey,
  currentRows: (table) => table,
  losses: rowsReplaced,
  write,
  dryWrite,
})

export async function rowsReplaced(
  context: RunContext,
  model: AppendModel | MergeModel,
  slice: Slice,
): Promise<readonly string[]> {
  if (slice === 'whole' || model.watermark === null || !continuesTable(context, model)) return []
  const { column } = model.watermark
  return rowsReplacedIn(context, model, isWithin(sql.ident(column), slice), { column, ...slice })
}

async function write(
  context: RunContext,
  model: AppendModel,
  { slice, staged, before, again }: Staged,
): Promise<Written> {
  const { store, connection } = context
  const target = await store.tables.written(connection, model.name)
  const { uniqueKey, watermark } = model
  if (slice !== 'whole') {
    const inside = isWithin(target.value(watermark.column), slice)
    await noteRows(context, model, valuesIn(target, inside))
    const deleted = await connection.run(sql`DELETE FROM ${target.table} WHERE ${inside}`)
    const inserted = await insert(connection, target, sql`FROM ${STAGE}`)
    await noteRows(context, model, valuesOf(STAGE))
    return { rows: deleted + inserted, added: inserted, changed: 0, removed: deleted }
  }
  const replaced = again === null ? 0 : await removeOlder(context, model, staged, again)
  const old = staged.filter((column) => !isNew(column, before))
  const added = addedColumns(staged, before).map(({ name }) => name)
  const fills = uniqueKey.length === 0 && added.length > 0
  const filled = fills ? await fillAdded(connection, target, old, added) : 0
  const fresh = newRows(sql.relation(model.name), model, old)
  const inserted = await insert(connection, target, fresh)
  // What is filled are rows of the stage.
  const isKnown = target.isAdded !== null && filled === 0
  await noteRows(context, model, isKnown ? valuesIn(target, target.isAdded) : valuesOf(STAGE))
  await warnOfLeft(context, model, staged)
  const rows = replaced + filled + inserted
  return { rows, added: inserted, changed: filled, removed: replaced }
}

async function dryWrite(
  context: RunContext,
  model: AppendModel,
  { slice, staged, before, again, table, unique }: DryWrite,
): Promise<DryWritten> {
  const { connection } = context
  const { uniqueKey, watermark, name } = model
  const fills = uniqueKey.length === 0 && addedColumns(staged, before).length > 0
  if (slice === 'whole' && (fills || again !== null)) {
    // Rows that are read again change, so what is there changes too: done on a copy.
    await layOver(connection, name, sql`FROM ${table}`, 'table')
    await write(context, model, { slice, ranges: [], staged, before, again })
    const after = sql.relation(name)
    const changes = (await compareRows(connection, { before: table, after })) ?? nothing
    return { changes, writes: null, added: changes.inserted - changes.removed }
  }
  const rows = slice === 'whole' ? newRows(table, model, staged) : sql`FROM ${STAGE}`
  await connection.run(sql`CREATE OR REPLACE TEMP TABLE _eider_fresh AS ${rows}`)
  const fresh = await keepTable(connection, '_eider_fresh', unique)
  if (slice === 'whole')
    await warnOfLeft(context, model, staged, sql`(FROM ${table} UNION ALL BY NAME FROM ${fresh})`)
  const inside = slice === 'whole' ? sql`false` : isWithin(sql.ident(watermark.column), slice)
  await layOver(
    connection,
    name,
    sql`FROM ${table} WHERE (${inside}) IS NOT TRUE UNION ALL BY NAME FROM ${fresh}`,
  )
  const replaced = sql`(FROM ${table} WHERE ${inside})`
  const changes = (await compareRows(connection, { before: replaced, after: fresh })) ?? nothing
  const touched = (await countRows(connection, replaced)) + (await countRows(connection, fresh))
  return { changes, writes: touched > 0, added: changes.inserted - changes.removed }
}

/**
 * Deletes the rows that an older rule has made of what was read again: of the same key, or where there is none of the same
 * watermark. The others stay: the source may no longer have them. Does nothing where both rules make the same.
 */
async function removeOlder(
  context: RunContext,
  model: AppendModel,
  staged: readonly Column[],
  { isOlder }: ReadAgain,
): Promise<number> {
  const { connection, store } = context
  const { uniqueKey: key, watermark, name } = model
  const target = await store.tables.written(connection, name)
  const column = sql.ident(watermark.column)
  if (key.length === 0) {
    const isRead = (value: Sql) =>
      sql`${isOlder(value)} AND ${value} IN (SELECT ${column} FROM ${STAGE})`
    const stage = sql`(SELECT ${named(staged)} FROM ${STAGE} r WHERE ${isOlder(sql`r.${column}`)})`
    const table = sql`(SELECT ${named(staged)} FROM ${sql.relation(name)} r WHERE ${isRead(sql`r.${column}`)})`
    const other = await connection.row(sql`
      SELECT 1 FROM ((FROM ${stage} EXCEPT ALL FROM ${table}) UNION ALL (FROM ${table} EXCEPT ALL FROM ${stage})) LIMIT 1`)
    if (other === null) return 0
    const isReadHere = isRead(target.value(watermark.column))
    await noteRows(context, model, valuesIn(target, isReadHere))
    return connection.run(sql`DELETE FROM ${target.table} WHERE ${isReadHere}`)
  }
  const onKey = sameValues(key, sql`t`, sql`s`)
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_older AS
    SELECT s.* FROM ${STAGE} s JOIN ${sql.relation(name)} t ON ${onKey}
    WHERE ${isOlder(sql`t.${column}`)} AND ${differs(staged, key)}`)
  await noteRows(context, model, (followed) => {
    return sql`SELECT t.${sql.ident(followed)} AS v FROM ${sql.relation(name)} t SEMI JOIN temp.main._eider_older s ON ${onKey}`
  })
  const older = await target.rows(sql`FROM temp.main._eider_older`)
  return connection.run(sql`DELETE FROM ${target.table} AS t USING (${older}) AS s WHERE ${onKey}`)
}

const nothing: RowChanges = { inserted: 0, changed: 0, removed: 0, key: [], sample: [] }

const isNew = ({ name }: Column, before: readonly Column[]) =>
  !before.some((column) => sameName(column.name, name))

const addedColumns = (staged: readonly Column[], before: readonly Column[]) =>
  staged.filter((column) => isNew(column, before))

/** Rows of the stage that `target` does not have yet. `compared`: the columns of rows without a key. */
function newRows(
  target: Sql,
  { uniqueKey, watermark }: AppendModel,
  compared: readonly Column[],
): Sql {
  // In a subquery, a column of the table that is called s and has a field of such a name would be meant instead.
  if (uniqueKey.length > 0)
    return sql`SELECT s.* FROM ${STAGE} s
      ANTI JOIN ${target} t ON ${sameValues(uniqueKey, sql`t`, sql`s`)}`
  return unseenRows(target, compared, watermark.column)
}

/**
 * Rows of the stage beyond as many as the table has of the same: two equal events are two rows, whether they come in
 * one run or in two.
 */
function unseenRows(target: Sql, compared: readonly Column[], watermark: string): Sql {
  const name = sql.ident(watermark)
  const parts = sql.join(compared.map((column) => comparable(sql`s`, column)))
  return sql`
    SELECT s.* EXCLUDE (_eider_n) FROM
    (SELECT *, row_number() OVER (PARTITION BY ${parts}) AS _eider_n FROM ${STAGE} s) s
    LEFT JOIN
    (SELECT ${named(compared)}, count(*) AS _eider_n FROM ${target} r
      WHERE r.${name} >= (SELECT min(${name}) FROM ${STAGE}) AND r.${name} IN (SELECT ${name} FROM ${STAGE})
      GROUP BY ALL) t
    ON ${areNamed(compared)}
    WHERE s._eider_n > coalesce(t._eider_n, 0)`
}

/** Rows that are read again get the values of columns that are new; without them they would look like other rows. */
async function fillAdded(
  connection: Connection,
  target: WrittenTable,
  compared: readonly Column[],
  added: readonly string[],
): Promise<number> {
  const first = added.map((name) => sql`first(r.${sql.ident(name)}) AS ${sql.ident(name)}`)
  const set = added.map((name) => sql`${sql.ident(name)} = t.${sql.ident(name)}`)
  const stage = await target.rows(sql`FROM ${STAGE}`)
  return connection.run(sql`
    UPDATE ${target.table} AS s SET ${sql.join(set)}
    FROM (SELECT ${named(compared)}, ${sql.join(first)} FROM (${stage}) r GROUP BY ALL) t
    WHERE ${areNamed(compared)}`)
}

/** The values of rows `r` as comparable() gives them, under the names of their columns. */
const named = (columns: readonly Column[]): Sql =>
  sql.join(columns.map((column) => sql`${comparable(sql`r`, column)} AS ${sql.ident(column.name)}`))

/** Whether the values of row `s` are those of `t`, which named() has made. */
const areNamed = (columns: readonly Column[]): Sql =>
  sql.all(
    columns.map(
      (column) =>
        sql`t.${sql.ident(column.name)} IS NOT DISTINCT FROM ${comparable(sql`s`, column)}`,
    ),
  )

const insert = async (connection: Connection, target: WrittenTable, rows: Sql): Promise<number> =>
  connection.run(sql`INSERT INTO ${target.table} BY NAME ${await target.rows(rows)}`)
