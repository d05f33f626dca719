// What a run would make of a table that goes on: the rows are staged and checked as the run does it, and what would be
// written is laid over the table of the warehouse as a view. The table itself is not copied.

import type { AppendModel, MergeModel, Scd2Model } from '../../../core/model.ts'
import { sameName } from '../../../core/names.ts'
import type { RowChanges } from '../../../core/report/planned-changes.ts'
import type { Column } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { describe } from '../../../duckdb/catalog.ts'
import { appendStage, newRows } from '../../build/materialize/append.ts'
import { adaptationOfKept, checkKeys, ownColumns } from '../../build/materialize/kept.ts'
import { refuseEmptyMirror } from '../../build/materialize/merge.ts'
import {
  continuesTable,
  inRange,
  refuseLoss,
  relationOf,
  type Site,
} from '../../build/materialize/relation.ts'
import { currentRows, firstVersions, nextTime, versionsFrom } from '../../build/materialize/scd2.ts'
import { fillStage, type KeptModel, STAGE } from '../../build/materialize/stage.ts'
import { compareByKey, compareRows, onChangedKey } from './compare.ts'
import { adaptedTable, layOver } from './layers.ts'

export interface Rehearsed {
  /** False: a run would leave the content as it is, and nothing downstream would run. */
  readonly changed: boolean
  /** Rows that the table would have more; null: to be counted. */
  readonly added: number | null
  /** null: rows are not compared. */
  readonly changes: RowChanges | null
}

/** `before`: the relation in the warehouse; null where there is none. `unique`: a number of its own for each model. */
export async function rehearseKept(
  site: Site,
  model: KeptModel,
  before: Sql | null,
  unique: number,
): Promise<Rehearsed> {
  const columns = await fillStage(site, model)
  if (before === null || !continuesTable(site, model)) {
    refuseLoss(site, model)
    return makeAnew(site, model, before, unique)
  }
  const from = ownColumns(model, await describe(site.connection, sql`FROM ${before}`))
  const { is } = adaptationOfKept(model, from, columns)
  if (is === 'rebuild') return makeAnew(site, model, before, unique)
  const adapted = adaptedTable(before, from, columns)
  await layOver(site.connection, model.name, sql`FROM ${adapted}`)
  const changes = await write(site, model, adapted, { columns, from, unique })
  await checkKeys(site, model)
  const { inserted, changed, removed } = changes
  const added = model.kind === 'scd2' ? inserted + changed : inserted - removed
  return { changed: is === 'evolved' || inserted + changed + removed > 0, added, changes }
}

async function makeAnew(
  site: Site,
  model: KeptModel,
  before: Sql | null,
  unique: number,
): Promise<Rehearsed> {
  const { connection, record } = site
  await refuseEmptyMirror(site, model)
  const stage = await keepTable(site, '_eider_stage', unique)
  const rows = model.kind === 'scd2' ? firstVersions(site, stage) : sql`FROM ${stage}`
  await layOver(connection, model.name, rows)
  await checkKeys(site, model)
  if (before === null) return { changed: true, added: null, changes: null }
  const old = record?.kind === 'scd2' ? currentRows(before) : before
  const changes = await compareRows(connection, { before: old, after: stage })
  return { changed: true, added: null, changes }
}

interface Written {
  readonly columns: readonly Column[]
  /** The columns that the table had until now. */
  readonly from: readonly Column[]
  readonly unique: number
}

function write(site: Site, model: KeptModel, table: Sql, written: Written): Promise<RowChanges> {
  switch (model.kind) {
    case 'append':
      return append(site, model, table, written)
    case 'merge':
      return merge(site, model, table, written)
    case 'scd2':
      return track(site, model, table, written)
  }
}

async function append(
  site: Site,
  model: AppendModel,
  table: Sql,
  { columns, from, unique }: Written,
): Promise<RowChanges> {
  const { connection, range } = site
  const { uniqueKey, watermark, name } = model
  const added = columns.filter((column) => !from.some((old) => sameName(old.name, column.name)))
  if (range === null && uniqueKey.length === 0 && added.length > 0) {
    // Rows that are read again get the new columns, so what is there changes too: done on a copy.
    await layOver(connection, name, sql`FROM ${table}`, 'table')
    await appendStage(site, model, columns, from)
    const changes = await compareRows(connection, { before: table, after: relationOf(name) })
    return changes ?? nothing
  }
  const rows = range === null ? newRows(table, model, columns) : sql`FROM ${STAGE}`
  await connection.run(sql`CREATE OR REPLACE TEMP TABLE _eider_fresh AS ${rows}`)
  const fresh = await keepTable(site, '_eider_fresh', unique)
  const inside = range === null ? sql`false` : inRange(watermark.column, range)
  await layOver(
    connection,
    name,
    sql`FROM ${table} WHERE (${inside}) IS NOT TRUE UNION ALL BY NAME FROM ${fresh}`,
  )
  const replaced = sql`(FROM ${table} WHERE ${inside})`
  return (await compareRows(connection, { before: replaced, after: fresh })) ?? nothing
}

const nothing: RowChanges = { inserted: 0, changed: 0, removed: 0, key: [], sample: [] }

async function merge(
  site: Site,
  model: MergeModel,
  table: Sql,
  { unique }: Written,
): Promise<RowChanges> {
  const { connection } = site
  const { uniqueKey: key } = model
  const keepsOthers = model.deletes === 'keep'
  await refuseEmptyMirror(site, model)
  const stage = await keepTable(site, '_eider_stage', unique)
  const changes = await compareByKey(connection, { before: table, after: stage, key, keepsOthers })
  const changed = await keepTable(site, '_eider_changes', unique)
  await layOver(
    connection,
    model.name,
    sql`FROM ${table} t WHERE NOT EXISTS (SELECT 1 FROM ${changed} k WHERE ${onChangedKey(key, sql`t`)})
      UNION ALL BY NAME
      FROM ${stage} s WHERE EXISTS (SELECT 1 FROM ${changed} k WHERE ${onChangedKey(key, sql`s`)})`,
  )
  return changes
}

async function track(
  site: Site,
  model: Scd2Model,
  table: Sql,
  { unique }: Written,
): Promise<RowChanges> {
  const { connection } = site
  const { uniqueKey: key } = model
  const time = await nextTime(site, table)
  const stage = await keepTable(site, '_eider_stage', unique)
  const before = currentRows(table)
  const changes = await compareByKey(connection, { before, after: stage, key })
  const changed = await keepTable(site, '_eider_changes', unique)
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
  return changes
}

/** A temporary table under a name of its own, so that later models do not overwrite it. */
async function keepTable({ connection }: Site, name: string, unique: number): Promise<Sql> {
  const kept = `${name}_${unique}`
  await connection.run(
    sql`ALTER TABLE ${sql.ident('temp', 'main', name)} RENAME TO ${sql.ident(kept)}`,
  )
  return sql.ident('temp', 'main', kept)
}
