// `eider adopt`: a table that no run has made becomes that of a model. Nothing is read from the source: the table must be
// what earlier runs of the model would have left, which is checked first, and the next run continues it. Snapshots of
// dbt have other columns for the same times, so their table is made once more with those of kind scd2.

import { count } from '../../core/counts.ts'
import { UsageError } from '../../core/failures.ts'
import { hashOf } from '../../core/hash.ts'
import { kinds } from '../../core/kinds.ts'
import type { AppendModel, MergeModel, Model, PeriodModel, Scd2Model } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import { type Column, columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { Known } from '../../store/state.ts'
import { textOf } from '../../duckdb/values.ts'
import { isLosslessWidening } from '../build/materialize/widening.ts'
import { countRows, relationType } from '../build/materialize/relation.ts'
import { checkKey } from '../build/materialize/stage.ts'
import { ModelFailure } from '../failure.ts'
import type { Opened } from '../orphans.ts'
import { ADOPTED } from '../plan/decide.ts'

type AdoptableModel = AppendModel | MergeModel | PeriodModel | Scd2Model

export interface Adoption {
  readonly model: AdoptableModel
  readonly rows: number
  /** What is done to columns, one line each. */
  readonly changes: readonly string[]
  /** The table as the model has it; null: it is so already. */
  readonly query: Sql | null
}

/** What dbt adds to a snapshot and kind scd2 does not have. */
const UNUSED = ['dbt_scd_id', 'dbt_updated_at']
/** Of `hard_deletes: new_record`: such a row says that its key is gone. */
const DELETED = 'dbt_is_deleted'
const TIMES = { valid_from: 'dbt_valid_from', valid_to: 'dbt_valid_to' } as const
const TIME = columnType('TIMESTAMP WITH TIME ZONE')

/** Changes nothing. Throws UsageError where the table is not one of the model. */
export async function planAdoption(
  connection: Connection,
  { catalog, state }: Known,
  model: Model,
): Promise<Adoption> {
  const { name, kind } = model
  if (kind !== 'append' && kind !== 'merge' && kind !== 'period' && kind !== 'scd2')
    throw new UsageError(`${name} is of kind ${kind}, which continues no table of another tool`, {
      hint: kinds[kind].keepsRows
        ? 'append, merge, period and scd2 do'
        : `a run makes its rows again: eider run ${name} --full-refresh replaces the table`,
    })
  if (state.models.has(name))
    throw new UsageError(`a run has made ${name} already`, { hint: 'there is nothing to adopt' })
  if (relationType(catalog, name) !== 'table')
    throw new UsageError(`the warehouse has no table ${name}`, {
      hint: 'the table has to have the name of the model, with its schema',
    })
  const table = sql.relation(name)
  const columns = await describe(connection, sql`FROM ${table}`)
  const shape =
    model.kind === 'scd2'
      ? await snapshotShape(connection, table, columns)
      : { query: null, changes: [], own: columns }
  refuseOtherColumns(model, shape.own)
  const rows = shape.query === null ? table : sql`(${shape.query})`
  if (model.kind === 'period') await refuseNoPeriod(connection, model, table)
  await refuseKeys(connection, model, rows)
  const { query, changes } = shape
  return { model, rows: await countRows(connection, table), changes, query }
}

/** Under the lease of the target. */
export async function adoptTable(opened: Opened, model: Model): Promise<Adoption> {
  const { connection, state, tables } = opened
  const known = await state.begin(connection, [model.name])
  const adoption = await planAdoption(connection, known, model)
  const { name, kind, definition } = model
  // What is not recorded as made would be made anew: rows that the source no longer has would go.
  const ranges = kind === 'period' ? [{ start: null, end: null }] : []
  if (ranges.length > 0) await state.makeSlices(connection)
  await state.change(connection, async () => {
    if (adoption.query !== null) {
      const statement = sql`CREATE OR REPLACE TABLE ${sql.relation(name)} AS ${adoption.query}`
      await tables.create(connection, name, { query: adoption.query, statement })
    }
    // Nobody knows by which rule its rows were made: they count as those of the model. Nor is it known of what, so the
    // next run builds the model and compares.
    const record = { model: { name, kind, definition }, fingerprint: ADOPTED, ranges }
    const version = hashOf(16, ['adopted', name, definition])
    await state.recordModels(connection, 'adopt', [{ ...record, version }])
  })
  return adoption
}

interface Shape {
  readonly query: Sql | null
  readonly changes: readonly string[]
  /** Those that the SELECT of the model has to give. */
  readonly own: readonly Column[]
}

/** Throws UsageError for a table without the times of its versions. */
async function snapshotShape(
  connection: Connection,
  table: Sql,
  columns: readonly Column[],
): Promise<Shape> {
  const named = (name: string) => columns.find((column) => sameName(column.name, name))
  const changes: string[] = []
  const times = Object.entries(TIMES).map(([own, ofDbt]) => {
    const column = named(own) ?? named(ofDbt)
    if (column === undefined)
      throw new UsageError(`the table has neither a column ${own} nor ${ofDbt}`, {
        hint: 'a table of kind scd2 says from when to when each version was valid',
      })
    if (!/^(?:DATE|TIMESTAMP)/.test(column.type))
      throw new UsageError(`the column "${column.name}" is ${column.type}, which is not a time`, {
        hint: 'give it the type TIMESTAMP in the table first',
      })
    if (column.name !== own) changes.push(`${own} is ${column.name}`)
    if (column.type !== TIME) changes.push(`${own} becomes TIMESTAMP WITH TIME ZONE, read as UTC`)
    return { own, column }
  })
  const [from, to] = times.map(({ own, column }) => ({
    name: sql.ident(own),
    time: sql`CAST(${sql.ident(column.name)} AS ${sql.type(TIME)})`,
  }))
  const open = await openEndOf(connection, table, to!.time)
  if (open !== null) changes.push(`valid_to ${open} stands for no end, and becomes NULL`)
  const end = open === null ? to!.time : sql`nullif(${to!.time}, ${sql.value(open, TIME)})`
  const unused = UNUSED.flatMap((name) => named(name)?.name ?? [])
  changes.push(...unused.map((name) => `${name} is left out`))
  const current = named('is_current')
  if (current === undefined) changes.push('is_current is true where valid_to is NULL')
  const taken = [...times.map(({ column }) => column.name), ...unused, 'is_current']
  const own = columns.filter(({ name }) => !taken.some((one) => sameName(one, name)))
  if (changes.length === 0) return { query: null, changes, own }
  const values = [
    ...own.map(({ name }) => sql.ident(name)),
    sql`${from!.time} AS ${from!.name}`,
    sql`${end} AS ${to!.name}`,
    sql`${end} IS NULL AS is_current`,
  ]
  return { query: sql`SELECT ${sql.join(values)} FROM ${table}`, changes, own }
}

/**
 * What a tool writes instead of NULL where a version has not ended, such as 9999-12-31 (`dbt_valid_to_current`): the latest
 * time of all, if it lies ahead. null: there is none.
 */
async function openEndOf(connection: Connection, table: Sql, end: Sql): Promise<string | null> {
  const row = await connection.row(
    sql`SELECT CAST(max(${end}) AS VARCHAR) AS open FROM ${table} HAVING max(${end}) > now()`,
  )
  return row === null ? null : textOf(row['open'])
}

/** Rows that belong to no period would stay for ever. */
async function refuseNoPeriod(
  connection: Connection,
  { name, period, renames }: PeriodModel,
  table: Sql,
): Promise<void> {
  const former = renames.find(({ to }) => sameName(to, period.column))?.from ?? period.column
  const rows = await countRows(connection, sql`(FROM ${table} WHERE ${sql.ident(former)} IS NULL)`)
  if (rows > 0)
    throw new UsageError(`${name}: "${former}" is NULL in ${count(rows, 'row')} of the table`, {
      hint: 'repair the table: each row of a period model belongs to a period',
    })
}

/** The next run brings types in line, where that loses nothing. */
function refuseOtherColumns(model: AdoptableModel, columns: readonly Column[]): void {
  const added = kinds[model.kind].addedColumns
  const wanted = model.columns.filter(({ name }) => !added.some((one) => sameName(one.name, name)))
  const named = (all: readonly Column[], name: string) =>
    all.find((one) => sameName(one.name, name))
  const former = (name: string) =>
    model.renames.find(({ from }) => sameName(from, name))?.to ?? name
  const found = columns.map((column) => ({ ...column, name: former(column.name) }))
  const problems = [
    ...wanted
      .filter(({ name }) => named(found, name) === undefined)
      .map(({ name, type }) => `the table has no "${name}" (${type})`),
    ...found.flatMap(({ name, type }) => {
      const column = named(wanted, name)
      if (column === undefined) return [`the model has no "${name}" (${type})`]
      const fits = column.type === type || isLosslessWidening(type, column.type)
      return fits ? [] : [`"${name}" is ${type} in the table and ${column.type} in the model`]
    }),
  ]
  if (problems.length === 0) return
  const isDeletion = named(found, DELETED) !== undefined && named(wanted, DELETED) === undefined
  throw new UsageError(`the table ${model.name} is not one of the model: ${problems.join('; ')}`, {
    hint: isDeletion
      ? `here a key that is gone ends, without a row that says so: DELETE FROM ${model.name} WHERE ${DELETED} = 'True'; ALTER TABLE ${model.name} DROP COLUMN ${DELETED}`
      : 'change the SELECT, say -- @renamed_from new: old, or alter the table',
  })
}

/** A key of an append is not needed; the versions of one share theirs. */
async function refuseKeys(connection: Connection, model: AdoptableModel, rows: Sql): Promise<void> {
  const former = (name: string) => model.renames.find(({ to }) => sameName(to, name))?.from
  const columns = await describe(connection, sql`FROM ${rows}`)
  const key = model.uniqueKey.map((name) => {
    const isThere = columns.some((column) => sameName(column.name, name))
    return isThere ? name : (former(name) ?? name)
  })
  const hint = 'repair the table, or choose a key that tells its rows apart'
  try {
    if (model.kind !== 'scd2') return await checkKey(connection, rows, key, 'unique_key', hint)
    await checkKey(connection, sql`(FROM ${rows} WHERE is_current)`, key, 'unique_key', hint)
    await checkKey(connection, rows, [...key, 'valid_from'], 'unique_key', hint)
  } catch (error) {
    if (error instanceof ModelFailure) throw new UsageError(`${model.name}: ${error.message}`)
    throw error
  }
}
