// kind merge: rows of the query replace rows of the table with the same key; other rows of the table stay, or with
// `@deletes: mirror` go.
//
// DuckDB's MERGE inserts two new duplicates without a word, takes any one of them where the key exists, and never
// matches a NULL. So keys are checked first, and only rows that are new or differ are written: an unchanged table keeps
// its version and nothing downstream runs.

import type { MergeModel } from '../../../core/model.ts'
import { sameName } from '../../../core/names.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import type { Slice } from '../../../core/step.ts'
import { ModelFailure } from '../../failure.ts'
import { warnOfEmptied } from '../../changes/emptied-parts.ts'
import { warnOfForgotten } from '../../changes/forgotten-rows.ts'
import { followedColumns, noteKeys, noteRows } from '../../changes/notes.ts'
import { compareByKey, onChangedKey } from '../../plan/dry-run/compare.ts'
import { keepTable, layOver } from '../../plan/dry-run/layers.ts'
import type { RunContext } from '../../run-context.ts'
import { type DryWrite, type DryWritten, keptTable, type Staged, type Written } from './kept.ts'
import type { Materialization } from './materialization.ts'
import { rowsReplaced } from './append.ts'
import { countRows, isWithin, relationType } from './relation.ts'
import { differs, hasKeyOf, sameValues, STAGE, readFrom } from './stage.ts'
import { count } from '../../../core/counts.ts'
import { isGrouped } from '../../../compiler/lineage/follow.ts'
import { isMadeOfForgotten } from '../../changes/forgets.ts'
import { isTouched } from '../../changes/ranges.ts'
import { warnOfKept, warnOfLeft } from '../../changes/left-rows.ts'
import { touchedSince } from '../../changes/touched.ts'

const DELTA = sql`temp.main._eider_delta`

export const merge: Materialization<MergeModel> = keptTable<MergeModel>({
  holds: 'holds rows that its source may no longer have',
  canRebuild: ({ deletes }) => deletes === 'mirror',
  refuseStage: refuseEmptyMirror,
  rowKey: ({ uniqueKey }) => uniqueKey,
  currentRows: (table) => table,
  losses: rowsReplaced,
  write,
  dryWrite,
})

async function write(
  context: RunContext,
  model: MergeModel,
  { staged, slice, before }: Staged,
): Promise<Written> {
  const { connection, store } = context
  const { uniqueKey } = model
  const part = await mirroredPart(context, model, slice, null)
  const deleted = part === null ? 0 : await deleteVanished(context, model, part)
  const onKey = sameValues(uniqueKey, sql`t`, sql`s`)
  // Keys of the table are never NULL, so a NULL on its side of the join says that it has no such row.
  // Of a column that the SELECT no longer has, a row that changes keeps its value.
  const gone = before.filter(({ name }) => !staged.some((column) => sameName(column.name, name)))
  const kept = sql.join(
    gone.map(({ name }) => sql`, t.${sql.ident(name)}`),
    sql.empty,
  )
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_delta AS
    SELECT s.*${kept} FROM ${STAGE} s LEFT JOIN ${sql.relation(model.name)} t ON ${onKey}
    WHERE t.${sql.ident(uniqueKey[0])} IS NULL OR ${differs(staged, uniqueKey)}`)
  const rows = await countRows(connection, DELTA)
  let changed = 0
  if (rows > 0) {
    const target = await store.tables.written(connection, model.name)
    await noteRows(context, model, (column) => {
      const [name, table] = [sql.ident(column), sql.relation(model.name)]
      const now = sql`SELECT ${name} AS v FROM ${DELTA}`
      if (uniqueKey.some((part) => sameName(part, column))) return now
      return sql`${now} UNION ALL
        SELECT t.${name} FROM ${table} t SEMI JOIN ${DELTA} s ON ${onKey}`
    })
    const delta = await target.rows(sql`FROM ${DELTA}`)
    changed = await connection.run(
      sql`DELETE FROM ${target.table} AS t USING (${delta}) AS s WHERE ${onKey}`,
    )
    await connection.run(sql`INSERT INTO ${target.table} BY NAME ${delta}`)
  }
  await connection.run(sql`DROP TABLE ${DELTA}`)
  if (slice === 'whole' && !isGrouped(context.project, model))
    await warnOfLeft(context, model, staged)
  await warnOfKept(context, model)
  return { rows: rows + deleted, added: rows - changed, changed, removed: deleted }
}

/** A part of the table in which rows whose key the SELECT does not give are gone. */
type Part = 'all' | { readonly has: (watermark: Sql) => Sql; readonly column: string }

/** null: no row is gone. `table`: what a plan has in place of the table; null: a run writes it. */
async function mirroredPart(
  context: RunContext,
  model: MergeModel,
  slice: Slice,
  table: Sql | null,
): Promise<Part | null> {
  if (model.deletes === 'mirror') return 'all'
  if (model.watermark === null) return null
  const { column } = model.watermark
  if (slice !== 'whole') return { has: (value) => isWithin(value, slice), column }
  const vanishing = await vanishingFrom(context, model)
  if (vanishing === null) return null
  if (table === null) await warnOfOthers(context, model, vanishing)
  if (vanishing.isMade === null) return null
  const before = table ?? sql.relation(model.name)
  if (!context.allowEmpty) await warnOfEmptied(context, model, before, vanishing.isMade)
  return { has: vanishing.isMade, column }
}

/** An empty source is more often a mistake upstream than the wish to delete everything. */
async function refuseEmptyMirror(context: RunContext, model: MergeModel): Promise<void> {
  const { connection, allowEmpty, catalog } = context
  if (allowEmpty || model.deletes !== 'mirror') return
  if (relationType(catalog, model.name) !== 'table') return
  if ((await countRows(connection, STAGE)) > 0) return
  const rows = await countRows(connection, sql.relation(model.name))
  if (rows === 0) return
  throw new ModelFailure(
    `the SELECT gives no rows, so @deletes: mirror would delete all ${rows} of the table; if that is meant, run with --allow-empty`,
    'deletes',
  )
}

/** Rows of the part whose key the SELECT does not give there. */
async function deleteVanished(context: RunContext, model: MergeModel, part: Part): Promise<number> {
  await refuseEmptyMirror(context, model)
  const { connection, store } = context
  const target = await store.tables.written(connection, model.name)
  const stage = await target.rows(sql`FROM ${STAGE}`)
  const onKey = sameValues(model.uniqueKey, sql`t`, sql`s`)
  await noteRows(context, model, (column) => {
    const table = sql.relation(model.name)
    const name = sql.ident(column)
    // What lies below all that is left of a window that moves on is not gone from those who have read it.
    const isGone =
      part !== 'all'
        ? part.has(sql`t.${sql.ident(part.column)}`)
        : isMadeOfForgotten(context.project, model)
          ? sql`t.${name} >= (SELECT min(${name}) FROM ${STAGE})`
          : sql`true`
    return sql`SELECT t.${name} AS v FROM ${table} t ANTI JOIN ${STAGE} s ON ${onKey} WHERE ${isGone}`
  })
  for (const column of part === 'all' ? followedColumns(context, model) : []) {
    const value = sql`t.${sql.ident(column.name)}`
    const least = sql`(SELECT min(${sql.ident(column.name)}) FROM ${STAGE})`
    const lost = sql`
      SELECT count(*) AS n, CAST(min(${value}) AS VARCHAR) AS low, CAST(max(${value}) AS VARCHAR) AS high
      FROM ${sql.relation(model.name)} t ANTI JOIN ${STAGE} s ON ${onKey} WHERE ${value} < ${least}`
    await warnOfForgotten(context, model, column, lost)
  }
  const isMeant = part === 'all' ? sql`true` : part.has(target.value(part.column))
  // What has left the window is gone from what is published.
  await noteKeys(context, model, (column) => {
    const [name, table] = [sql.ident(column), sql.relation(model.name)]
    const isGone = part === 'all' ? sql`true` : part.has(sql`t.${sql.ident(part.column)}`)
    return sql`SELECT t.${name} AS v FROM ${table} t ANTI JOIN ${STAGE} s ON ${onKey} WHERE ${isGone}`
  })
  return connection.run(sql`
    DELETE FROM ${target.table} AS t
    WHERE ${isMeant} AND NOT ${hasKeyOf(sql`(${stage})`, model.uniqueKey, sql`t`)}`)
}

async function dryWrite(
  context: RunContext,
  model: MergeModel,
  { table, unique, slice, staged }: DryWrite,
): Promise<DryWritten> {
  const { connection } = context
  const { uniqueKey: key } = model
  const part = await mirroredPart(context, model, slice, table)
  await refuseEmptyMirror(context, model)
  if (slice === 'whole' && !isGrouped(context.project, model))
    await warnOfLeft(context, model, staged, table)
  const stage = await keepTable(connection, '_eider_stage', unique)
  const before =
    part === null || part === 'all'
      ? table
      : sql`(FROM ${table} t WHERE ${part.has(sql`t.${sql.ident(part.column)}`)}
          OR ${hasKeyOf(stage, key, sql`t`)})`
  const changes = await compareByKey(connection, {
    before,
    after: stage,
    key,
    keepsOthers: part === null,
  })
  await warnOfKept(context, model, { table, stage, added: changes.inserted })
  const changed = await keepTable(connection, '_eider_changes', unique)
  await layOver(
    connection,
    model.name,
    sql`FROM ${table} t WHERE NOT EXISTS (SELECT 1 FROM ${changed} k WHERE ${onChangedKey(key, sql`t`)})
      UNION ALL BY NAME
      FROM ${stage} s WHERE EXISTS (SELECT 1 FROM ${changed} k WHERE ${onChangedKey(key, sql`s`)})`,
  )
  return { changes, writes: null, added: changes.inserted - changes.removed }
}

// Groups that are gone from the SELECT of a merge that reads only a part of its input. A group is gone once none of its
// rows is left, so it can be known only by the changes of the tables that the model follows: all of the groups with a value
// of the column by which it reads are made again there, and what the SELECT no longer gives of them is not in it any more.
// An input that only forgets its oldest rows has not changed there, so their groups stay.

interface Vanishing {
  /** Whether all groups with this value of the watermark were made again, by what is known to have changed; null: none were. */
  readonly isMade: ((watermark: Sql) => Sql) | null
  /** Whether rows with it were read, for whatever reason. */
  readonly isRead: (watermark: Sql) => Sql
}

/** For a table that goes on, while the stage has what was read of the whole SELECT; null: no group is looked for. */
async function vanishingFrom(context: RunContext, model: MergeModel): Promise<Vanishing | null> {
  const { watermark, uniqueKey, name } = model
  if (watermark === null || !isGrouped(context.project, model)) return null
  const touched = (await touchedSince(context, model))?.ranges ?? null
  // The key of a group without it may have come to another value, of which nothing is made again.
  const isKey = uniqueKey.some((part) => sameName(part, watermark.column))
  const ranges = isKey ? (touched ?? []) : []
  return {
    isMade: ranges.length === 0 ? null : (value) => isTouched(value, ranges),
    isRead: (value) =>
      touched === null
        ? sql`true`
        : sql`(${value} >= ${readFrom(name, watermark)} OR ${isTouched(value, touched)})`,
  }
}

/** Before anything is written. */
async function warnOfOthers(
  { connection, changes }: RunContext,
  { name, uniqueKey, watermark }: MergeModel,
  { isMade, isRead }: Vanishing,
): Promise<void> {
  const value = sql`t.${sql.ident(watermark!.column)}`
  const isOther = isMade === null ? sql`true` : sql`NOT ${isMade(value)}`
  const rows = await countRows(
    connection,
    sql`(FROM ${sql.relation(name)} t WHERE ${isRead(value)} AND ${isOther}
      AND NOT ${hasKeyOf(STAGE, uniqueKey, sql`t`)})`,
  )
  if (rows === 0) return
  changes.warn(
    name,
    `${count(rows, 'row')} of the table ${rows === 1 ? 'is of a group' : 'are of groups'} that the SELECT no longer gives, and no change that is followed says so: ${rows === 1 ? 'it stays' : 'they stay'}; to remove those of a range: eider run ${name} --start VALUE --end VALUE`,
  )
}
