// Rows on their way into an incremental table: the query's result in a temporary table, read from where the last run
// ended, its keys checked before anything is written.

import { asWritten, narrowed, NULLS } from '../../../compiler/lineage/narrow.ts'
import type { KeptModel, PeriodModel, Watermark } from '../../../core/model.ts'
import { type ModelName, sameName } from '../../../core/names.ts'
import { type RangeColumn, rangeColumnOf, watermarkOf } from '../../../core/range-column.ts'
import { type Column, type ColumnType, columnType } from '../../../core/relation.ts'
import { type ModelBody, type Sql, sql } from '../../../core/sql.ts'
import type { ValueRange, Slice } from '../../../core/step.ts'
import { describe } from '../../../duckdb/catalog.ts'
import type { Connection } from '../../../duckdb/database.ts'
import { ifRefused } from '../../../duckdb/errors.ts'
import { numberOf, type Row } from '../../../duckdb/values.ts'
import { isTouched } from '../../changes/ranges.ts'
import { touchedSince } from '../../changes/touched.ts'
import { fullRefreshOf, ModelFailure } from '../../failure.ts'
import type { RunContext } from '../../run-context.ts'
import { continuesTable, countRows, isInRange, isInSome, isWithin } from './relation.ts'
import { limits } from '../../../core/limits.ts'

export const STAGE = sql`temp.main._eider_stage`

/** `filter` comes after the body, so that places in the body are those of the statement without one. */
export function stageStatement({ body }: Pick<KeptModel, 'body'>, filter: Sql = sql.empty): Sql {
  return sql`CREATE OR REPLACE TEMP TABLE _eider_stage AS (FROM (${sql.body(body)}\n)${filter})`
}

/** Leaves the rows in STAGE; gives its columns. Throws ModelFailure for NULL watermarks and for invalid keys. */
export async function fillStage(
  context: RunContext,
  model: KeptModel,
  slice: Slice,
  ranges: readonly ValueRange[] = [],
): Promise<readonly Column[]> {
  const { connection } = context
  let part: ReadPart | null = null
  if (model.kind === 'period') await stagePeriods(context, model, ranges)
  else {
    const watermark = watermarkOf(model)
    part = watermark === null ? null : await partToRead(context, model, watermark, slice)
    const filter = part === null ? sql.empty : sql` WHERE ${part.has(sql.ident(part.column))}`
    await connection.run(stageStatement(model, filter))
    if (watermark !== null) await refuseNulls(connection, STAGE, model, 'watermark')
  }
  const columns = await describe(connection, sql`FROM ${STAGE}`)
  const time = 'validFrom' in model ? model.validFrom : null
  if (time !== null) await refuseWrongTimes(connection, time)
  // Rows of one key with other times are versions of it.
  const key = time === null ? model.uniqueKey : [...model.uniqueKey, time]
  if ('onDuplicate' in model && model.onDuplicate.take === 'latest')
    await keepLatest(context, model, { key, latest: model.onDuplicate.column, columns, part })
  await checkKey(connection, STAGE, key, 'unique_key', duplicatesHint(model))
  return columns
}

/** Rows without a value belong to no range, so they are counted apart: that reads no more than the column. */
async function stagePeriods(
  context: RunContext,
  model: PeriodModel,
  ranges: readonly ValueRange[],
): Promise<void> {
  const { connection } = context
  const [first] = ranges
  const isAll = first?.start === null && first.end === null
  const bodies = isAll ? null : await narrowedEach(context, model, ranges)
  if (bodies === null) {
    const inside = isInSome(sql.ident(model.period.column), ranges)
    const filter = isAll ? sql.empty : sql` WHERE ${inside}`
    await connection.run(stageStatement(model, filter))
  } else await stageEach(connection, model, bodies)
  if (isAll) return refuseNulls(connection, STAGE, model, 'period')
  // Rows that lead to no value are found without reading the others; a join may make some that have none in truth.
  const body = bodies === null ? null : await narrowed(context, model, NULLS)
  const some = body === null ? 1 : await countNulls(connection, model, sql`(${sql.body(body)}\n)`)
  if (some > 0) await refuseNulls(connection, sql`(${sql.body(model.body)}\n)`, model, 'period')
}

interface NarrowedRange {
  readonly range: ValueRange
  readonly body: ModelBody
}

/** null: the SELECT is to be read once. */
async function narrowedEach(
  context: RunContext,
  model: PeriodModel,
  ranges: readonly ValueRange[],
): Promise<readonly NarrowedRange[] | null> {
  if (ranges.length > limits.narrowedReads) return null
  const found: NarrowedRange[] = []
  for (const range of ranges) {
    const body = await narrowed(context, model, range)
    if (body === null) return null
    found.push({ range, body })
  }
  return found
}

/** Ranges apart: the statistics of stored rows help with one range, not with several of which one holds. */
async function stageEach(
  connection: Connection,
  model: PeriodModel,
  bodies: readonly NarrowedRange[],
): Promise<void> {
  const value = sql.ident(model.period.column)
  for (const [i, { range, body }] of bodies.entries()) {
    const filter = sql` WHERE ${isInRange(value, range)}`
    const query = sql`FROM (${sql.body(body)}\n)${filter}`
    const statement =
      i === 0 ? stageStatement({ body }, filter) : sql`INSERT INTO ${STAGE} ${query}`
    await ifRefused(connection.run(statement), (error) => {
      const original = stageStatement(model)
      throw asWritten(error, { statement, body, original, own: model.body })
    })
  }
}

/** A part of what the SELECT gives, by values of the watermark. */
interface ReadPart {
  readonly column: string
  readonly has: (value: Sql) => Sql
  /** All that it leaves out has lower values. */
  readonly isNewest: boolean
}

/** null: all is read. */
async function partToRead(
  context: RunContext,
  model: KeptModel,
  { column, lookback }: Watermark,
  slice: Slice,
): Promise<ReadPart | null> {
  const { connection } = context
  const name = sql.ident(column)
  if (slice !== 'whole') return { column, has: (value) => isWithin(value, slice), isNewest: false }
  if (!continuesTable(context, model)) return null
  const target = sql.relation(model.name)
  const last = await connection.row(sql`SELECT max(${name}) IS NULL AS none FROM ${target}`)
  if (last?.['none'] === true) return null
  const touched = (await touchedSince(context, model))?.ranges ?? null
  if (touched === null) return null
  const from = readFrom(model.name, { column, lookback })
  // A row without a watermark passes here, to be rejected together with the others.
  const has = (value: Sql) => {
    const late = touched.length === 0 ? sql.empty : sql` OR ${isTouched(value, touched)}`
    return sql`(${value} >= ${from}${late} OR ${value} IS NULL)`
  }
  return { column, has, isNewest: touched.length === 0 }
}

/** From where on rows are read of a table that has some. */
export function readFrom(model: ModelName, { column, lookback }: Watermark): Sql {
  const back = lookback === null ? sql.empty : sql` - ${distance(lookback)}`
  return sql`(SELECT max(${sql.ident(column)})${back} FROM ${sql.relation(model)})`
}

/** `columns`: those of the table that goes on. */
export function refuseLostWatermark(
  model: ModelName,
  { column, at }: RangeColumn,
  columns: readonly Column[],
): void {
  if (columns.some(({ name }) => sameName(name, column))) return
  throw new ModelFailure(
    `the table has no column "${column}" to continue from; rebuild it: ${fullRefreshOf(model)}`,
    at,
  )
}

export const distance = (lookback: string): Sql =>
  /^\d+$/.test(lookback)
    ? sql.value(BigInt(lookback), columnType('HUGEINT')) // below zero also where the column has no sign
    : sql.value(lookback, columnType('INTERVAL'))

async function countNulls(
  connection: Connection,
  model: KeptModel,
  relation: Sql,
): Promise<number> {
  const { column } = rangeColumnOf(model)!
  return countRows(connection, sql`(FROM ${relation} WHERE ${sql.ident(column)} IS NULL)`)
}

async function refuseNulls(
  connection: Connection,
  relation: Sql,
  model: KeptModel,
  what: 'watermark' | 'period',
): Promise<void> {
  const { column, at } = rangeColumnOf(model)!
  const rows = await countNulls(connection, model, relation)
  if (rows > 0)
    throw new ModelFailure(
      `${rows} ${rows === 1 ? 'row has' : 'rows have'} NULL in the ${what} column "${column}"; filter or fill them in the SELECT`,
      at,
    )
}

/** A version without a time has no place among the others, and one that begins at infinity never ends. */
async function refuseWrongTimes(connection: Connection, column: string): Promise<void> {
  const time = sql.ident(column)
  const row = await connection.row(sql`
    SELECT count(*) AS n FROM ${STAGE} WHERE ${time} IS NULL OR NOT isfinite(${time})`)
  const rows = numberOf(row?.['n'])
  if (rows > 0)
    throw new ModelFailure(
      `${rows} ${rows === 1 ? 'row has' : 'rows have'} NULL or infinity in "${column}", from which a version is valid; filter or fill them in the SELECT`,
      'valid_from',
    )
}

interface Latest {
  readonly key: readonly string[]
  readonly latest: string
  /** Of the stage. */
  readonly columns: readonly Column[]
  /** What was read; null: everything. */
  readonly part: ReadPart | null
}

/**
 * Among rows that are equally late it keeps the one that is greatest in the other columns: the same in every run. Rows of
 * the table that were not read are still there in the SELECT, so one that is older than such a row of its key is left out.
 */
async function keepLatest(context: RunContext, model: KeptModel, rows: Latest): Promise<void> {
  const { key, latest, columns } = rows
  const ranked = [latest, ...columns.map(({ name }) => name)].map(
    (name) => sql`${sql.ident(name)} DESC NULLS LAST`,
  )
  const unread = await unreadRows(context, model, rows)
  await context.connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_stage AS
    SELECT * EXCLUDE (_eider_is_read) FROM (
      FROM (SELECT *, true AS _eider_is_read FROM ${STAGE}${unread})
      QUALIFY row_number() OVER (PARTITION BY ${sql.idents(key)} ORDER BY ${sql.join(ranked)}) = 1)
    WHERE _eider_is_read`)
}

/** Those of the keys that were read, to be united with the stage. */
async function unreadRows(
  context: RunContext,
  model: KeptModel,
  { key, latest, columns, part }: Latest,
): Promise<Sql> {
  if (part === null || (part.isNewest && sameName(part.column, latest))) return sql.empty
  if (!continuesTable(context, model)) return sql.empty
  const { connection } = context
  const table = sql.relation(model.name)
  const before = await describe(connection, sql`FROM ${table}`)
  const isThere = (name: string) => before.some((column) => sameName(column.name, name))
  // A table that is about to get one of these has no row that could be compared.
  if (![...key, latest, part.column].every(isThere)) return sql.empty
  const values = columns
    .filter(({ name }) => isThere(name))
    .map(({ name, type }) => {
      const column = sql.ident(name)
      return sql`TRY_CAST(t.${column} AS ${sql.type(type)}) AS ${column}`
    })
  return sql` UNION ALL BY NAME SELECT ${sql.join(values)}, false AS _eider_is_read
    FROM ${table} t SEMI JOIN ${STAGE} s ON ${sameValues(key, sql`t`, sql`s`)}
    WHERE NOT ${part.has(sql`t.${sql.ident(part.column)}`)}`
}

/** NULLs are equal. */
export function sameValues(names: readonly string[], left: Sql, right: Sql): Sql {
  const equal = names.map(
    (name) => sql`${left}.${sql.ident(name)} IS NOT DISTINCT FROM ${right}.${sql.ident(name)}`,
  )
  return sql.all(equal)
}

/**
 * Whether one of the rows has the key of `row`. In a subquery, a column of these rows that is called like `row` and has a field
 * of such a name would be meant instead, so it sees those of the key alone.
 */
export const hasKeyOf = (rows: Sql, key: readonly string[], row: Sql): Sql =>
  sql`EXISTS (SELECT 1 FROM (SELECT ${sql.idents(key)} FROM ${rows}) AS _eider_other
    WHERE ${sameValues(key, row, sql`_eider_other`)})`

/** Whether values that DuckDB calls equal may differ: to it a month is 30 days, which holds for no date. */
export const needsText = (type: ColumnType): boolean => type.includes('INTERVAL')

/** The column of `row` as a value that equals another only when the two are indistinguishable. */
export function comparable(row: Sql, { name, type }: Column): Sql {
  const value = sql`${row}.${sql.ident(name)}`
  return needsText(type) ? sql`${value}::VARCHAR` : letterByLetter(value, type)
}

/** A column may have a collation, by which 'Ann' equals 'ANN'. Its type does not say so. */
export const letterByLetter = (value: Sql, type: ColumnType): Sql =>
  type === 'VARCHAR' ? sql`${value} COLLATE "binary"` : value

/** The same for EXCEPT, to which the collation of the column counts nevertheless. */
export const bytesOfText = (value: Sql, type: ColumnType): Sql =>
  type === 'VARCHAR' ? sql`encode(${value})` : value

/** True for a pair of rows with one key and other values; `t` is the table, `s` the stage. */
export function differs(columns: readonly Column[], key: readonly string[]): Sql {
  const distinct = columns
    .filter(({ name }) => !key.some((part) => sameName(part, name)))
    .map((column) => {
      const [left, right] = [comparable(sql`t`, column), comparable(sql`s`, column)]
      return sql`${left} IS DISTINCT FROM ${right}`
    })
  return sql`(${sql.any(distinct)})`
}

type KeyAnnotation = 'unique_key' | 'expose'

/**
 * A key must name each row, before anything is published under it. Throws ModelFailure with the first keys that are NULL or duplicate; `at` is the annotation that names the key, `hint`
 * what to do.
 */
export async function checkKey(
  connection: Connection,
  relation: Sql,
  key: readonly string[],
  at: KeyAnnotation,
  hint: string = hints[at],
): Promise<void> {
  if (key.length === 0) return
  const columns = sql.idents(key)
  const texts = sql.join(
    key.map((name) => sql`coalesce(left(${sql.ident(name)}::VARCHAR, 100), 'NULL')`),
  )
  const anyNull = sql.any(key.map((name) => sql`${sql.ident(name)} IS NULL`))
  const rows = await connection.rows(sql`
    SELECT [${texts}] AS "values", count(*) AS "rows", ${anyNull} AS "null"
    FROM ${relation} GROUP BY ${columns} HAVING count(*) > 1 OR ${anyNull}
    ORDER BY ${columns} NULLS FIRST LIMIT ${sql.value(limits.shownKeys + 1)}`)
  if (rows.length > 0) throw new ModelFailure(`${explain(rows, key)}; ${hint}`, at)
}

const hints: Readonly<Record<KeyAnnotation, string>> = {
  unique_key:
    'filter them in the SELECT, or keep one row of each key with @on_duplicate: latest(column)',
  expose: 'expose a key that is unique for each row, or none: @expose',
}

/** For rows of the SELECT; not every kind takes @on_duplicate. */
export const duplicatesHint = (model: KeptModel): string =>
  'onDuplicate' in model ? hints.unique_key : 'filter them in the SELECT'

function explain(rows: readonly Row[], key: readonly string[]): string {
  const shown = rows.slice(0, limits.shownKeys).map((row) => {
    const values = row['values'] as readonly string[]
    return `${key.map((name, i) => `${name} = ${values[i]}`).join(', ')} (${numberOf(row['rows'])} rows)`
  })
  const more = rows.length > limits.shownKeys ? '; and more' : ''
  const what = rows.some((row) => row['null'] === true) ? 'NULL or duplicate' : 'duplicate'
  return `${what} keys: ${shown.join('; ')}${more}`
}
