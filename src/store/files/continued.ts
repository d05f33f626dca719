// A published file that continues another one: a copy of it in which the rows that have changed are replaced. To copy bytes
// costs next to nothing beside sorting and compressing all rows. Deleted rows are only marked, so both parts stay in
// the order in which they lie (rows.ts).
//
// What has changed is said by its values, never by rows: all rows with such values go, and those that the relation has of
// them now come. So it may say too much, and what it says of an earlier run is of no use. The number of rows is compared
// with that of the relation at the end.

import { constants } from 'node:fs'
import { copyFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../core/limits.ts'
import { sameName } from '../../core/names.ts'
import { type Column, hasOneText } from '../../core/relation.ts'
import {
  damageMarkerFile,
  isSameShape,
  type PublishedRelation,
  type RowsApart,
  type TableName,
} from '../../core/snapshot.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError, isDamage, isInterrupt } from '../../duckdb/errors.ts'
import { numberOf } from '../../duckdb/values.ts'
import { renameDurably } from '../../files/durable-files.ts'
import { type ChangedRows, fileOf, type NewRows, type RowsContent } from '../snapshots.ts'
import { fileBytes, isWhole, orderBy, removeDatabase } from './published.ts'
import { CHANGED_KEYS, FEW, fileRows, IN_ANY_ORDER, MOST, SINCE } from './rows.ts'

interface Continuation {
  readonly dir: string
  readonly connection: Connection
  readonly content: RowsContent
  readonly before: PublishedRelation
  readonly rows: NewRows
  readonly apartPercent: number
}

/** The name under which the copy is attached. */
const COPY = '_eider_continued'
const FRESH = sql`temp.main._eider_fresh`
const PLACES = sql`temp.main._eider_places`
const LAST = sql`temp.main._eider_last`

/** null: the relation is to be written whole. Then nothing has changed. */
export async function continueFile(continuation: Continuation): Promise<PublishedRelation | null> {
  const { dir, connection, content, before, rows } = continuation
  const { metadata, changed } = rows
  if (changed === null || !(await canContinue(continuation, changed))) return null
  const file = fileOf(content)
  const path = join(dir, file)
  const temporary = `${path}.tmp`
  const tables: Sql[] = []
  try {
    const changes = await keepValues(connection, metadata.columns, changed, tables)
    const fresh = await keepFresh(connection, rows, changes)
    tables.push(FRESH, PLACES, LAST)
    if (isTooMuch(continuation, fresh)) return null
    await removeDatabase(temporary)
    await copyFile(join(dir, before.file), temporary, constants.COPYFILE_FICLONE)
    const made = await replaceRows(continuation, temporary, changes, fresh)
    if (made === null) return null
    await renameDurably(temporary, path)
    await rm(join(dir, damageMarkerFile(file)), { force: true })
    const bytes = (await fileBytes(path)) ?? 0
    return { model: content.model, file, bytes, ...metadata, ...made }
  } catch (error) {
    if (!(error instanceof DatabaseError) || isInterrupt(error)) throw error
    // What the engine refuses here it may do with all rows; if not, that says why. Damage must not be met by each run again.
    if (isDamage(error))
      await writeFile(join(dir, damageMarkerFile(before.file)), `${before.file} is damaged\n`)
    return null
  } finally {
    await removeDatabase(temporary)
    for (const table of tables) await connection.run(sql`DROP TABLE IF EXISTS ${table}`)
  }
}

async function canContinue(
  { dir, content, before, rows, apartPercent }: Continuation,
  { since }: ChangedRows,
): Promise<boolean> {
  const { columns, key } = rows.metadata
  return (
    apartPercent > 0 &&
    key.length > 0 &&
    before.rows >= limits.apartFromRows &&
    before.file === fileOf({ ...content, version: since }) &&
    before.file !== fileOf(content) &&
    isSameShape(before, { key, columns }) &&
    columns.every(({ name, type }) => !key.includes(name) || hasOneText(type)) &&
    (await isWhole(dir, before))
  )
}

const isTooMuch = ({ before, apartPercent }: Continuation, changes: number): boolean =>
  (before.apart?.changes ?? 0) + changes > (before.rows * apartPercent) / 100

/** The tables with the values of changed rows, each once. */
interface Changes {
  readonly tables: readonly Sql[]
  /** The column with these values, where there is one alone. */
  readonly column: string | null
  /** Whether a row `t` has one of each. */
  readonly isChanged: Sql
}

/** Leaves the values in tables. */
async function keepValues(
  connection: Connection,
  columns: readonly Column[],
  { values }: ChangedRows,
  tables: Sql[],
): Promise<Changes> {
  const conditions: Sql[] = []
  for (const [column, texts] of values) {
    const type = columns.find(({ name }) => sameName(name, column))?.type
    if (type === undefined) throw new Error(`the relation has no column ${column}`)
    const name = `_eider_changed_${conditions.length}`
    const lists = texts.map(
      (text) => sql`SELECT unnest(from_json(${sql.value(text)}, '["VARCHAR"]')) AS v`,
    )
    await connection.run(sql`
      CREATE OR REPLACE TEMP TABLE ${sql.ident(name)} AS
      SELECT DISTINCT CAST(v AS ${sql.type(type)}) AS v
      FROM (${sql.join(lists, sql` UNION ALL `)}) WHERE v IS NOT NULL`)
    tables.push(sql.ident('temp', 'main', name))
    conditions.push(sql`t.${sql.ident(column)} = ${sql.ident(name)}.v`)
  }
  const [column = null, ...others] = values.keys()
  return {
    tables: [...tables],
    column: others.length === 0 ? column : null,
    isChanged: sql.all(conditions),
  }
}

/**
 * Returns how many rows there are now where something has changed. They are found by what has changed alone, and then
 * read by their places: a run writes changed rows at the end of a table, and reading all columns of all rows to find
 * them takes four times as long.
 */
async function keepFresh(
  connection: Connection,
  { relation, metadata }: NewRows,
  { tables, isChanged }: Changes,
): Promise<number> {
  const names = sql.join(metadata.columns.map(({ name }) => sql`t.${sql.ident(name)}`))
  const found = sql`FROM ${relation} AS t, ${sql.join(tables)} WHERE ${isChanged}`
  await connection.run(
    sql`CREATE OR REPLACE TEMP TABLE _eider_places AS SELECT t.rowid AS place ${found}`,
  )
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_fresh AS
    SELECT ${names} ${found} AND t.rowid IN (SELECT place FROM ${PLACES})`)
  return countOf(connection, FRESH)
}

async function countOf(connection: Connection, rows: Sql): Promise<number> {
  const row = await connection.row(sql`SELECT count(*) AS n FROM ${rows}`)
  return numberOf(row?.['n'])
}

/** null: it must not be published. */
async function replaceRows(
  continuation: Continuation,
  path: string,
  changes: Changes,
  fresh: number,
): Promise<Required<Pick<PublishedRelation, 'rows' | 'apart'>> | null> {
  const { connection, rows } = continuation
  const database = sql.ident(COPY)
  await connection.run(sql`
    ATTACH ${sql.value(path)} AS ${database} (ROW_GROUP_SIZE ${sql.value(limits.snapshotRowGroupRows)})`)
  try {
    const apart = await connection.transact(() => replaceIn(continuation, changes, fresh))
    if (isTooMuch(continuation, apart.changes - (continuation.before.apart?.changes ?? 0)))
      return null
    await connection.run(sql`CHECKPOINT ${database}`)
    const parts = fileRows.partsOf({ apart }, COPY)
    const there = await countOf(connection, tableIn(parts?.all ?? fileRows.tableOf(COPY)))
    if (there !== (await countOf(connection, rows.relation))) return null
    return { rows: there, apart }
  } finally {
    await connection.run(sql`DETACH ${database}`)
  }
}

const tableIn = (name: TableName): Sql => sql.ident(...name)

async function replaceIn(
  continuation: Continuation,
  changes: Changes,
  fresh: number,
): Promise<RowsApart> {
  const { connection, before, rows } = continuation
  const { key } = rows.metadata
  const { tables, isChanged } = changes
  const parts = fileRows.partsOf(before, COPY)
  const most = tableIn(parts?.most ?? fileRows.tableOf(COPY))
  const few = tableIn([COPY, 'main', FEW])
  const since = await recordKeys(continuation, changes, parts === null ? [most] : [most, few])
  const remove = (table: Sql) =>
    connection.run(sql`DELETE FROM ${table} AS t USING ${sql.join(tables)} WHERE ${isChanged}`)
  const apart = (removed: number) => ({
    changes: (before.apart?.changes ?? 0) + Math.max(removed, fresh),
    since,
  })
  let gone = await remove(most)
  if (parts !== null) gone += await remove(few)
  const isLater = await comesAfter(connection, most, key)
  await connection.run(sql`INSERT INTO ${most} FROM ${FRESH} WHERE ${isLater} ${orderBy(key)}`)
  const others = sql`FROM ${FRESH} WHERE NOT ${isLater} ${orderBy(key)}`
  if (parts !== null) await connection.run(sql`INSERT INTO ${few} ${others}`)
  else if ((await countOf(connection, sql`(${others})`)) > 0)
    await divide(connection, key, sql`CREATE TABLE ${few} AS ${others}`)
  else return { rows: 0, ...apart(gone) }
  // Of two tables one may be empty by now; 0 would say that there is one.
  return { rows: Math.max(1, await countOf(connection, few)), ...apart(gone) }
}

/**
 * Adds the keys of the rows that go and come to those of the files before; returns these files. What has changed may be
 * these keys already.
 */
async function recordKeys(
  { connection, before, rows }: Continuation,
  changes: Changes,
  parts: readonly Sql[],
): Promise<readonly string[]> {
  const { key } = rows.metadata
  const { tables, isChanged } = changes
  const since = [...(before.apart?.since ?? []), before.file].slice(-limits.continuedFiles)
  const changed = tableIn([COPY, 'main', CHANGED_KEYS])
  const names = sql.idents(key)
  const ofRows = sql.join(key.map((name) => sql`t.${sql.ident(name)}`))
  const file = sql.value(before.file)
  if (before.apart?.since === undefined)
    await connection.run(
      sql`CREATE TABLE ${changed} AS SELECT ${file} AS ${sql.ident(SINCE)}, ${names} FROM ${FRESH} LIMIT 0`,
    )
  const gone =
    changes.column !== null && sameName(changes.column, key[0]!) && key.length === 1
      ? tables.map((table) => sql`SELECT v FROM ${table}`)
      : parts.map(
          (part) => sql`SELECT ${ofRows} FROM ${part} AS t, ${sql.join(tables)} WHERE ${isChanged}`,
        )
  const all = sql.join([sql`SELECT ${names} FROM ${FRESH}`, ...gone], sql` UNION `)
  await connection.run(sql`INSERT INTO ${changed} SELECT ${file}, * FROM (${all})`)
  const kept = sql.values(since)
  await connection.run(sql`DELETE FROM ${changed} WHERE ${sql.ident(SINCE)} NOT IN (${kept})`)
  return since
}

/** Whether a row comes after all rows that the table has now, of which the last one has the greatest key. */
async function comesAfter(
  connection: Connection,
  table: Sql,
  key: readonly string[],
): Promise<Sql> {
  const names = sql.idents(key)
  const descending = sql.join(key.map((name) => sql`${sql.ident(name)} DESC`))
  await connection.run(sql`
    CREATE OR REPLACE TEMP TABLE _eider_last AS
    SELECT ${names} FROM ${table} ORDER BY ${descending} LIMIT 1`)
  return sql`coalesce(ROW(${names}) > (SELECT ROW(${names}) FROM ${LAST}), true)`
}

/** Makes two tables of one. Views name no database, since each reader has the file under a name of its own. */
async function divide(connection: Connection, key: readonly string[], makeFew: Sql): Promise<void> {
  const rows = tableIn(fileRows.tableOf(COPY))
  await connection.run(sql`ALTER TABLE ${rows} RENAME TO ${sql.ident(MOST)}`)
  await connection.run(makeFew)
  const both = sql`FROM ${sql.ident(MOST)} UNION ALL FROM ${sql.ident(FEW)}`
  await connection.run(sql`CREATE VIEW ${tableIn([COPY, 'main', IN_ANY_ORDER])} AS ${both}`)
  await connection.run(sql`CREATE VIEW ${rows} AS SELECT * FROM (${both}) ${orderBy(key)}`)
}
