// Which values of which columns the changes of tables touch, and how far the models have read that ask for it. In both
// stores: tables that are made before the first model reads, so that a target without such models is stored as it
// always was.
//
//   _eider.changes     what one transaction has changed of a table: one row per range of the values of a column, or one
//                      without a range where there is none, and `is_known` false where it may be anything. The versions
//                      are those of the table before and after. Where rows have gone for good, one more row has no `low`,
//                      and the word of GONE as its `high`
//   _eider.changed_keys  the exact values of a column that such a change touches, where a table is kept up to date by
//                      them; `col` names the column and what it goes through
//   _eider.removed     how many rows of a table of events were deleted that models follow; those of a table add up
//   _eider.followers   a model, a column of a table that it follows, and the version of the table that it has read last.
//                      The rows of a model with its greatest `seq` count; one without a table: it follows nothing
//
// A follower has read up to a version, never up to a time or a number of its own: what leads from that version to the
// one that the table has now is what it has not read. Where the way is not whole, somebody has changed the table without
// saying how, and all of it is read. So rows that are missing here, for whatever reason, cost time and lose nothing.
//
// On a lake rows are only ever inserted, since a DELETE would refuse those who insert meanwhile, such as collectors.

import { foldCase, type ModelName, sameName } from '../core/names.ts'
import { type Sql, sql } from '../core/sql.ts'
import { type EngineCatalog, catalogKey } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { numberOf } from '../duckdb/values.ts'
import { ChangeRows, type ChangeTable, ROWS_AT_ONCE } from './change-rows.ts'
import { type Position, type Versions, waysFrom } from './change-ways.ts'
import { FORGOTTEN_TABLE, ForgottenValues } from './forgotten.ts'

const SCHEMA = '_eider'

const TABLES = [
  sql`CREATE TABLE IF NOT EXISTS _eider.changes (seq BIGINT, model VARCHAR, col VARCHAR, low VARCHAR, high VARCHAR,
    is_known BOOLEAN, version_before VARCHAR, version_after VARCHAR)`,
  sql`CREATE TABLE IF NOT EXISTS _eider.changed_keys (model VARCHAR, col VARCHAR, value VARCHAR,
    version_before VARCHAR, version_after VARCHAR)`,
  sql`CREATE TABLE IF NOT EXISTS _eider.removed (model VARCHAR, removed BIGINT)`,
  sql`CREATE TABLE IF NOT EXISTS _eider.followers (seq BIGINT, reader VARCHAR, model VARCHAR, col VARCHAR, version VARCHAR)`,
  FORGOTTEN_TABLE,
]

/** Both ends belong to it, as DuckDB writes the values of the column. */
export interface ClosedRange {
  readonly low: string
  readonly high: string
}

/** What a change touches of one column; null: it may be anything. */
export interface TouchedColumn {
  readonly column: string
  readonly ranges: readonly ClosedRange[] | null
  /** Whether rows may have gone that nothing has replaced, so that tables which keep rows may still have what was made of them. */
  readonly hasGone?: boolean
}

const GONE = 'gone'

export interface TableChange extends TouchedColumn, Versions {
  readonly model: ModelName
}

export interface ReadSoFar {
  readonly positions: readonly Position[]
  readonly changes: readonly TableChange[]
}

interface Found {
  readonly model: string
  readonly col: string
  readonly readers: readonly string[]
}

export class ChangeTables {
  /** What `@keep` has removed. */
  readonly forgotten: ForgottenValues
  readonly #deletes: boolean
  #exists = false
  /** A target may have the other tables from before. */
  #notesRemoved = false
  #hasKeys = false
  #hasMore = false
  #database = ''
  /** By the name of the table in lower case. */
  #followed = new Map<string, readonly Pick<Found, 'col' | 'readers'>[]>()
  #readers = new Set<string>()
  readonly #rows = new ChangeRows((name) => this.#table(name))

  /** `deletes`: rows that no longer count may be deleted at any time. */
  constructor({ deletes }: { readonly deletes: boolean }) {
    this.#deletes = deletes
    this.forgotten = new ForgottenValues({ deletes })
  }

  async read(connection: Connection, { relations, database }: EngineCatalog): Promise<void> {
    this.#exists = relations.has(catalogKey(SCHEMA, 'followers'))
    this.#notesRemoved = relations.has(catalogKey(SCHEMA, 'removed'))
    this.#hasKeys = relations.has(catalogKey(SCHEMA, 'changed_keys'))
    this.#database = database
    const isKept = relations.has(catalogKey(SCHEMA, 'forgotten'))
    this.forgotten.use(isKept ? this.#table('forgotten') : null)
    this.#followed = new Map()
    this.#readers = new Set()
    if (!this.#exists) return
    const rows = await connection.texts(sql`
      SELECT lower(model) AS model, col, list(DISTINCT lower(reader)) AS readers FROM ${this.#inForce()}
      WHERE model IS NOT NULL GROUP BY ALL`)
    for (const { model, col, readers } of rows as unknown as readonly Found[]) {
      this.#followed.set(model, [...(this.#followed.get(model) ?? []), { col, readers }])
      for (const reader of readers) this.#readers.add(reader)
    }
  }

  /** Columns of a table that some model follows. */
  columnsOf(model: ModelName): readonly string[] {
    return (this.#followed.get(foldCase(model)) ?? []).map(({ col }) => col)
  }

  /** Models that follow a column of a table, in lower case. */
  readersOf(model: ModelName, column: string): readonly ModelName[] {
    const found = this.#followed.get(foldCase(model))?.find(({ col }) => sameName(col, column))
    return (found?.readers ?? []) as readonly ModelName[]
  }

  /** Whether a model has followed something when this was read. */
  isReader(model: ModelName): boolean {
    return this.#readers.has(foldCase(model))
  }

  /** In no transaction, before the first follower reads. */
  async make(connection: Connection): Promise<void> {
    if (!this.#exists || !this.#notesRemoved || !this.#hasKeys || !this.forgotten.exists)
      await connection.transact(() => connection.run(sql.join(TABLES, sql`;\n`)))
    this.#exists = this.#notesRemoved = this.#hasKeys = true
    if (!this.forgotten.exists) this.forgotten.use(this.#table('forgotten'))
  }

  /** Call this in the transaction that deletes rows of a table of events. */
  async noteRemoved(connection: Connection, model: ModelName, rows: number): Promise<void> {
    if (rows === 0 || this.columnsOf(model).length === 0) return
    if (!this.#notesRemoved) throw new Error('make() has not been called')
    await connection.run(
      sql`INSERT INTO ${this.#table('removed')} VALUES (${sql.value(model)}, ${sql.value(rows)})`,
    )
  }

  /** How many rows the relation has, and how many have gone from the table of this name. */
  async countEver(connection: Connection, relation: Sql, model: ModelName): Promise<number> {
    const row = await connection.row(sql`
      SELECT count(*) + (${this.#removedFrom(model)}) AS n FROM ${relation}`)
    return numberOf(row?.['n'])
  }

  async removedFrom(connection: Connection, model: ModelName): Promise<number> {
    if (!this.#notesRemoved) return 0
    const row = await connection.row(sql`SELECT (${this.#removedFrom(model)}) AS n`)
    return numberOf(row?.['n'])
  }

  #removedFrom(model: ModelName): Sql {
    if (!this.#notesRemoved) return sql`0`
    return sql`SELECT coalesce(sum(removed), 0)::BIGINT FROM ${this.#table('removed')}
      WHERE lower(model) = ${sql.value(foldCase(model))}`
  }

  /** The greatest version of a table of events that somebody has read, or that leads to what nobody has; 0: none. */
  async newestEvents(connection: Connection, model: ModelName): Promise<number> {
    if (!this.#exists) return 0
    await this.#rows.write(connection)
    const of = sql`WHERE lower(model) = ${sql.value(foldCase(model))}`
    const row = await connection.row(sql`
      SELECT coalesce(max(TRY_CAST(split_part(version, ' ', 1) AS BIGINT)), 0) AS n FROM (
        SELECT version FROM ${this.#inForce()} ${of}
        UNION ALL SELECT version_after FROM ${this.#table('changes')} ${of})`)
    return numberOf(row?.['n'])
  }

  /** All of a transaction: what is recorded in it is written at its end, or before it is read. */
  async together<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
    return await this.#rows.together(connection, work)
  }

  /** In the transaction that changes the table. */
  async record(
    connection: Connection,
    model: ModelName,
    versions: Versions,
    changes: readonly TouchedColumn[],
  ): Promise<void> {
    if (!this.#exists || changes.length === 0) return
    this.#hasMore = true
    const { before, after } = versions
    const rows = changes.flatMap(({ column, ranges, hasGone = false }) => {
      const row = (low: string | null, high: string | null) => {
        return [model, column, low, high, ranges !== null, before, after]
      }
      const each =
        ranges === null || ranges.length === 0
          ? [row(null, null)]
          : ranges.map(({ low, high }) => row(low, high))
      return hasGone ? [...each, row(null, GONE)] : each
    })
    await this.#rows.add(connection, 'changes', rows)
  }

  /** Whether exact values are kept: a lake would keep a file for each change of each column. */
  get keepsKeys(): boolean {
    return this.#deletes
  }

  /** `values`: a query of texts. In the transaction that changes the table, with record(). */
  async recordKeys(
    connection: Connection,
    model: ModelName,
    column: string,
    { before, after }: Versions,
    values: Sql,
  ): Promise<void> {
    if (!this.#hasKeys) throw new Error('make() has not been called')
    await connection.run(sql`
      INSERT INTO ${this.#table('changed_keys')}
      SELECT ${sql.value(model)}, ${sql.value(column)}, value, ${sql.value(before)}, ${sql.value(after)}
      FROM (${values}) AS found(value)`)
  }

  /** The same for a few values that are known. */
  async recordFewKeys(
    connection: Connection,
    model: ModelName,
    { column, before, after }: Versions & Pick<TableChange, 'column'>,
    values: readonly (string | null)[],
  ): Promise<void> {
    if (!this.#hasKeys) throw new Error('make() has not been called')
    const rows = values.map((value) => [model, column, value, before, after])
    await this.#rows.add(connection, 'changed_keys', rows)
  }

  /** A query of "value", of all that the changes touch. */
  keysOf(changes: readonly TableChange[]): Sql {
    const each = changes.map(
      ({ model, column, before, after }) =>
        sql`(model = ${sql.value(model)} AND col = ${sql.value(column)}
          AND version_before = ${sql.value(before)} AND version_after = ${sql.value(after)})`,
    )
    return sql`SELECT value FROM ${this.#table('changed_keys')} WHERE ${sql.any(each)}`
  }

  /** Call this in the transaction that builds the reader. */
  async readBy(
    connection: Connection,
    reader: ModelName,
    models: readonly ModelName[],
  ): Promise<ReadSoFar> {
    if (!this.#exists) return { positions: [], changes: [] }
    await this.#rows.write(connection)
    const names = sql.values(models.map(foldCase))
    const positions = (await connection.texts(sql`
      SELECT model, col AS "column", version FROM ${this.#inForce(reader)} WHERE model IS NOT NULL`)) as unknown as Position[]
    if (positions.length === 0) return { positions, changes: [] }
    // What has changed since was recorded later; all that there is may be much on a lake.
    const since = positions.map(
      ({ model, version }) =>
        sql`(lower(model) = ${sql.value(foldCase(model))} AND version_before = ${sql.value(version)})`,
    )
    const table = this.#table('changes')
    const rows = (await connection.texts(sql`
      SELECT model, col, low, high, is_known, version_before, version_after FROM ${table}
      WHERE lower(model) IN (${names})
        AND seq >= (SELECT min(seq) FROM ${table} WHERE ${sql.any(since)})`)) as unknown as readonly SavedChange[]
    return { positions, changes: rows.map(changeOf) }
  }

  /** In the transaction that builds the reader. */
  async follow(
    connection: Connection,
    reader: ModelName,
    positions: readonly Position[],
  ): Promise<void> {
    if (!this.#exists) return
    this.#hasMore = true
    const rows = positions.map(({ model, column, version }) => [reader, model, column, version])
    if (this.#deletes) return await this.#rows.replaceFollower(connection, reader, rows)
    const own = sql`lower(reader) = ${sql.value(foldCase(reader))}`
    const isNothing = rows.length === 0
    if (isNothing) {
      const found = sql`SELECT 1 FROM ${this.#table('followers')} WHERE ${own} LIMIT 1`
      if ((await connection.row(found)) === null) return
    }
    await this.#rows.addFollower(connection, isNothing ? [[reader, null, null, null]] : rows)
  }

  /** In the transaction that changes what it has read: as if that were nothing. */
  async forget(connection: Connection, reader: ModelName): Promise<void> {
    await this.follow(connection, reader, [])
  }

  /** In the transaction that renames the relation. */
  async rename(connection: Connection, from: ModelName, to: ModelName): Promise<void> {
    await this.forget(connection, from)
    await this.forgotten.rename(connection, from, to)
  }

  /** In the transaction that drops the relation. */
  async drop(connection: Connection, model: ModelName): Promise<void> {
    await this.forget(connection, model)
    await this.forgotten.drop(connection, model)
  }

  /** Whether this process has added rows, so that others may no longer be needed. */
  get hasMore(): boolean {
    return this.#hasMore
  }

  /** Deletes what no model will read any more. Returns the rows. */
  async prune(connection: Connection): Promise<number> {
    if (!this.#exists) return 0
    const positions = (await connection.texts(sql`
      SELECT model, col AS "column", version FROM ${this.#inForce()} WHERE model IS NOT NULL`)) as unknown as Position[]
    const rows = (await connection.texts(sql`
      SELECT DISTINCT model, col AS "column", version_before AS "before", version_after AS "after"
      FROM ${this.#table('changes')}`)) as unknown as Omit<TableChange, 'ranges'>[]
    const { passed } = waysFrom(positions, rows)
    const read = rows.filter((row) => !passed.has(row))
    let deleted = 0
    for (let at = 0; at < read.length; at += ROWS_AT_ONCE) {
      const some = read
        .slice(at, at + ROWS_AT_ONCE)
        .map(({ model, column, before, after }) => [model, column, before, after])
      deleted += await connection.run(sql`
        DELETE FROM ${this.#table('changes')}
        WHERE (model, col, version_before, version_after) IN (${sql.rows(some)})`)
    }
    if (this.#hasKeys && read.length > 0)
      deleted += await connection.run(sql`
        DELETE FROM ${this.#table('changed_keys')} AS k WHERE NOT EXISTS (
          SELECT 1 FROM ${this.#table('changes')} AS c WHERE c.model = k.model AND c.col = k.col
            AND c.version_before = k.version_before AND c.version_after = k.version_after)`)
    const table = this.#table('followers')
    const followers = await connection.run(sql`
      DELETE FROM ${table} AS f WHERE model IS NULL OR seq < (
        SELECT max(seq) FROM ${table} AS last WHERE lower(last.reader) = lower(f.reader))`)
    return deleted + followers + (await this.forgotten.prune(connection))
  }

  #table(name: ChangeTable | 'forgotten' | 'removed'): Sql {
    return sql.ident(this.#database, SCHEMA, name)
  }

  /** `reader`: of this one alone. */
  #inForce(reader: ModelName | null = null): Sql {
    const of = reader === null ? sql`true` : sql`lower(reader) = ${sql.value(foldCase(reader))}`
    return sql`(FROM ${this.#table('followers')} WHERE ${of}
      QUALIFY seq = max(seq) OVER (PARTITION BY lower(reader)))`
  }
}

interface SavedChange {
  readonly model: ModelName
  readonly col: string
  readonly low: string | null
  readonly high: string | null
  readonly is_known: boolean
  readonly version_before: string
  readonly version_after: string
}

function changeOf(row: SavedChange): TableChange {
  const { model, col: column, low, high, version_before: before, version_after: after } = row
  const ranges = low === null || high === null ? [] : [{ low, high }]
  const hasGone = low === null && high === GONE
  return { model, column, before, after, ranges: row.is_known ? ranges : null, hasGone }
}
