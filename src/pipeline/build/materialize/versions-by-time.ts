// Versions with times of their own: `@valid_from` names the column with the time from which a row is valid.
//
// A version is known by its key and that time. A row with another time is another version, at its place in time, however
// late it comes; a row with the same time corrects its version. So the history follows from the rows, not from the order in which
// runs have seen them. Where only some columns count, a row that equals the version before it in these is none, and a version
// that comes to equal the one before it becomes part of that. Such rows are not kept: one that a later row would make a version
// is one only if the SELECT gives it again.
//
// A version ends where the next one of its key begins, or earlier where the key was gone meanwhile. The last one is the
// current one as long as the SELECT gives the key.

import { count } from '../../../core/counts.ts'
import { limits } from '../../../core/limits.ts'
import type { Scd2Model } from '../../../core/model.ts'
import { sameName } from '../../../core/names.ts'
import { type Column, columnType } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { numberOf } from '../../../duckdb/values.ts'
import { fullRefreshOf, ModelFailure } from '../../failure.ts'
import type { RunContext } from '../../run-context.ts'
import { comparable, differs, hasKeyOf, sameValues, STAGE } from './stage.ts'
import type { Staged } from './kept.ts'

const TIME = columnType('TIMESTAMP WITH TIME ZONE')
const FOUND = sql`temp.main._eider_found`
const REPEATS = sql`temp.main._eider_repeats`
const LINE = sql`temp.main._eider_line`

/** Without a zone it is a time of UTC. */
const timeIn = (row: Sql, column: string): Sql =>
  sql`CAST(${row}.${sql.ident(column)} AS ${sql.type(TIME)})`

/** The versions of a key in the order of their times. */
const byTime = ({ uniqueKey }: Scd2Model): Sql =>
  sql`(PARTITION BY ${sql.idents(uniqueKey)} ORDER BY valid_from)`

/** Whether a row equals the version before it in the columns that count; with all of them it never does. */
function repeats(model: Scd2Model, columns: readonly Column[]): Sql {
  const window = byTime(model)
  const same = columns.map((column) => {
    const value = comparable(sql`r`, column)
    return sql`${value} IS NOT DISTINCT FROM lag(${value}) OVER ${window}`
  })
  return sql.all([sql`row_number() OVER ${window} > 1`, ...same])
}

export function firstByTime(
  model: Scd2Model,
  column: string,
  { stage, staged }: { readonly stage: Sql; readonly staged: readonly Column[] },
): Sql {
  const filter =
    model.compare === null
      ? sql.empty
      : sql`QUALIFY NOT (${repeats(model, comparedColumns(model, staged))})`
  const next = sql`lead(valid_from) OVER ${byTime(model)}`
  return sql`SELECT *, ${next} AS valid_to, ${next} IS NULL AS is_current FROM
    (SELECT * FROM (SELECT *, ${timeIn(sql`s`, column)} AS valid_from FROM ${stage} s) r ${filter})`
}

/** Leaves what is to be written in ENDS and OPENINGS. */
export async function findByTime(
  context: RunContext,
  model: Scd2Model,
  column: string,
  place: Place,
): Promise<void> {
  await findRows(context, model, column, place)
  if (model.compare !== null) await leaveRepeatsOut(context, model, place)
  await layInLine(context, model, place)
  const { connection } = context
  const { uniqueKey, deletes } = model
  const { table } = place
  const key = sql.idents(uniqueKey)
  const start = sql.value(context.startedAt.toISOString(), TIME)
  const gone =
    deletes === 'keep'
      ? sql.empty
      : sql`UNION ALL SELECT ${key}, valid_from,
          greatest(${start}, valid_from + INTERVAL 1 MICROSECOND), false
        FROM ${currentRows(table)} t
        WHERE NOT ${hasKeyOf(STAGE, uniqueKey, sql`t`)}`
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_ends AS
    SELECT ${key}, valid_from, valid_to, is_current FROM ${LINE}
    WHERE NOT _eider_found AND (valid_to IS DISTINCT FROM _eider_to OR is_current <> _eider_current)
    ${andTakenIn(model, (rows) => sql`UNION ALL SELECT ${key}, valid_from, valid_from, false FROM ${rows}`)}
    ${gone}`)
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_openings AS
    SELECT f.* EXCLUDE (_eider_to, _eider_opens), l.valid_to, l.is_current
    FROM ${FOUND} f JOIN ${LINE} l ON ${sameValues(versionKey(model), sql`f`, sql`l`)}`)
  await connection.run(sql`DROP TABLE ${FOUND}; DROP TABLE ${LINE}`)
  if (model.compare !== null) await connection.run(sql`DROP TABLE ${REPEATS}`)
}

/** Rows of the stage that the table does not have, or has with other values; these keep what the SELECT does not give. */
async function findRows(
  { connection }: RunContext,
  model: Scd2Model,
  column: string,
  { table, staged, before }: Place,
): Promise<void> {
  const { uniqueKey } = model
  const first = sql`t.${sql.ident(uniqueKey[0])}`
  const lost = before
    .filter(({ name }) => !staged.some((one) => sameName(one.name, name)))
    .map(({ name }) => sql`t.${sql.ident(name)}, `)
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_found AS
    SELECT s.*, ${sql.join(lost, sql.empty)}${timeIn(sql`s`, column)} AS valid_from,
      t.valid_to AS _eider_to, ${first} IS NULL AS _eider_opens
    FROM ${STAGE} s LEFT JOIN ${table} t
    ON ${sameValues(uniqueKey, sql`t`, sql`s`)} AND t.valid_from = ${timeIn(sql`s`, column)}
    WHERE ${first} IS NULL OR ${differs(comparedColumns(model, staged), uniqueKey)}`)
}

/**
 * Moves to REPEATS what equals the version before it: rows that are found, and versions next to one. Other versions that are
 * equal were made while more columns counted, and stay.
 */
async function leaveRepeatsOut(
  { connection }: RunContext,
  model: Scd2Model,
  { table, staged }: Place,
): Promise<void> {
  const { uniqueKey } = model
  const compared = comparedColumns(model, staged)
  const names = sql.idents(versionKey(model))
  const values = compared
    .filter(({ name }) => !uniqueKey.some((part) => sameName(part, name)))
    .map(({ name }) => sql`, ${sql.ident(name)}`)
  const all = sql`${names}${sql.join(values, sql.empty)}`
  const rows = sql`
    SELECT ${all}, _eider_to, _eider_opens, true AS _eider_found,
      CASE WHEN NOT _eider_opens THEN coalesce(_eider_to, 'infinity') END AS _eider_end FROM ${FOUND}
    UNION ALL SELECT ${all}, valid_to, false, false, coalesce(valid_to, 'infinity') FROM ${table} t
    WHERE ${hasKeyOf(FOUND, uniqueKey, sql`t`)} AND NOT ${hasKeyOf(FOUND, versionKey(model), sql`t`)}`
  const isNear = sql`(_eider_found OR lag(_eider_found) OVER ${byTime(model)})`
  // A key that was gone is another version when it is back.
  const end = sql`max(_eider_end) OVER
    (PARTITION BY ${sql.idents(uniqueKey)} ORDER BY valid_from ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`
  const wasGone = sql`coalesce(${end} < valid_from AND lag(valid_from) OVER ${byTime(model)} < ${end}, false)`
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_repeats AS
    SELECT ${names}, _eider_to, _eider_opens FROM (${rows}) r
    QUALIFY ${isNear} AND NOT ${wasGone} AND ${repeats(model, compared)}`)
  await connection.run(sql`
    DELETE FROM ${FOUND} AS f USING ${REPEATS} r
    WHERE ${sameValues(versionKey(model), sql`f`, sql`r`)}`)
}

/** Said of the versions of the table that become part of the one before; nothing where all columns count. */
const andTakenIn = ({ compare }: Scd2Model, said: (rows: Sql) => Sql): Sql =>
  compare === null ? sql.empty : said(sql`(FROM ${REPEATS} WHERE NOT _eider_opens)`)

/** Versions of the table that stay as they are, but for their ends. */
function others(model: Scd2Model, table: Sql): Sql {
  const isIn = (rows: Sql) => hasKeyOf(rows, versionKey(model), sql`t`)
  return sql`(FROM ${table} t WHERE NOT ${isIn(FOUND)}
    ${andTakenIn(model, (rows) => sql`AND NOT ${isIn(rows)}`)})`
}

/**
 * All versions of the keys of which one is found or taken in, and of those that were gone: in the order of their times,
 * with their ends.
 */
async function layInLine(
  { connection }: RunContext,
  model: Scd2Model,
  { table }: Place,
): Promise<void> {
  const { uniqueKey } = model
  const key = sql.idents(uniqueKey)
  const touched = sql`(SELECT ${key} FROM ${FOUND} ${andTakenIn(model, (rows) => sql`UNION SELECT ${key} FROM ${rows}`)}
    UNION SELECT ${key} FROM ${STAGE} s
    WHERE NOT ${hasKeyOf(currentRows(table), uniqueKey, sql`s`)})`
  const next = sql`lead(valid_from) OVER ${byTime(model)}`
  // The end of the last version that has one; a version that falls into it ends there too.
  const last = sql`max(_eider_last) OVER (PARTITION BY ${key} ORDER BY valid_from ROWS UNBOUNDED PRECEDING)`
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_line AS
    SELECT *, ${next} IS NULL AS is_current, CASE WHEN ${next} IS NULL THEN NULL
      ELSE least(${next}, CASE WHEN ${last} > valid_from THEN ${last} END) END AS valid_to
    FROM (
      SELECT ${key}, _eider_begins AS valid_from, max(_eider_to) AS _eider_to, max(_eider_last) AS _eider_last,
        bool_or(_eider_current) AS _eider_current, bool_or(_eider_found) AS _eider_found
      FROM (SELECT * REPLACE (max(_eider_begins) OVER ${byTime(model)} AS _eider_begins) FROM (
        SELECT ${key}, valid_from, valid_from AS _eider_begins, _eider_to, _eider_to AS _eider_last,
          false AS _eider_current, true AS _eider_found FROM ${FOUND}
        UNION ALL
        SELECT ${key}, valid_from, valid_from, valid_to, valid_to, is_current, false
        FROM ${others(model, table)} t WHERE ${hasKeyOf(touched, uniqueKey, sql`t`)}
        ${andTakenIn(
          model,
          (rows) => sql`UNION ALL
        SELECT ${key}, valid_from, NULL, NULL, coalesce(_eider_to, 'infinity'), false, false FROM ${rows}`,
        )}))
      GROUP BY ${key}, _eider_begins)`)
}

/**
 * The rows of a table whose versions begin when runs have seen them, with the times of the column instead; null where they
 * have these already. Throws ModelFailure where these times do not follow each other as the versions do.
 */
export async function tableByTime(
  { connection }: RunContext,
  model: Scd2Model,
  column: string,
  table: Sql,
): Promise<Sql | null> {
  const { uniqueKey, name } = model
  const time = timeIn(sql`t`, column)
  const isOther = await connection.row(
    sql`SELECT 1 FROM ${table} t WHERE t.valid_from IS DISTINCT FROM ${time} LIMIT 1`,
  )
  if (isOther === null) return null
  const window = byTime(model)
  const key = uniqueKey.map((part) => sql`left(t.${sql.ident(part)}::VARCHAR, 100)`)
  const wrong = await connection.rows(sql`
    SELECT key, count(*) OVER () AS n FROM (
      SELECT [${sql.join(key)}] AS key FROM ${table} t
      QUALIFY ${time} IS NULL OR ${time} <= lag(${time}) OVER ${window})
    ORDER BY key LIMIT ${sql.value(limits.shownKeys)}`)
  if (wrong.length > 0) {
    const shown = wrong.map((row) => {
      const values = row['key'] as readonly string[]
      return uniqueKey.map((part, i) => `${part} = ${values[i]}`).join(', ')
    })
    throw new ModelFailure(
      `the versions in the table begin when runs have seen them, and "${column}" does not say when ${count(numberOf(wrong[0]?.['n']), 'version')} began: it is NULL there, or not later than in the version before (${shown.join('; ')}); leave out @valid_from, or start a new history: ${fullRefreshOf(name)}`,
      'valid_from',
    )
  }
  const next = sql`lead(${time}) OVER ${window}`
  const gone = sql`greatest(t.valid_to, ${time} + INTERVAL 1 MICROSECOND)`
  return sql`SELECT t.* REPLACE (${time} AS valid_from,
      CASE WHEN t.valid_to IS NOT NULL THEN least(${next},
        CASE WHEN t.valid_to < lead(t.valid_from) OVER ${window} OR ${next} IS NULL THEN ${gone} END) END AS valid_to)
    FROM ${table} t`
}

// Versions of rows on their way into a table of kind scd2: those that end, and those that begin.

/** The key of the version, valid_from, and what valid_to and is_current become; one that ends where it begins goes. */
export const ENDS = sql`temp.main._eider_ends`
/** Whole versions; one that the table has is replaced. */
export const OPENINGS = sql`temp.main._eider_openings`

/** `table`: its columns have been brought in line. */
export interface Place extends Staged {
  readonly table: Sql
}

export const currentRows = (table: Sql): Sql => sql`(FROM ${table} WHERE is_current)`

export const versionKey = ({ uniqueKey }: Scd2Model): readonly string[] => [
  ...uniqueKey,
  'valid_from',
]

/** `t` and `s` are one version. */
export const onVersion = (model: Scd2Model): Sql => sameValues(versionKey(model), sql`t`, sql`s`)

/** Those in which a new version differs from the one before. */
export const comparedColumns = (
  { compare }: Scd2Model,
  staged: readonly Column[],
): readonly Column[] =>
  compare === null
    ? staged
    : staged.filter(({ name }) => compare.some((one) => sameName(one, name)))
