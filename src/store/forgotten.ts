// Which values rows had that `@keep` has removed, for each model that reads their table by these values. In both stores, with
// the tables of changes.ts.
//
//   _eider.forgotten   ranges of the values of a column of a table; `reader` is the model that may have rows made of them. The
//                      rows of a reader, a table and a column with their greatest `seq` count; one without a range: none are gone.
//                      Without a table, `model` being empty: values of the column of the reader itself, which it has made
//                      again of what was left, so that it has nothing of what was gone then
//
// Names are in lower case. All that is known of a column is written anew with each change of it, so that ranges which meet
// are one row.

import { foldCase, type ModelName } from '../core/names.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'

export const FORGOTTEN_TABLE = sql`
  CREATE TABLE IF NOT EXISTS _eider.forgotten (seq BIGINT, reader VARCHAR, model VARCHAR, col VARCHAR, low VARCHAR, high VARCHAR)`

/** A column of a table that a model reads by. */
interface ReadColumn {
  readonly reader: ModelName
  readonly model: ModelName
  readonly column: string
}

/** Both ends belong to it, as DuckDB writes the values of the column. */
interface ForgottenRange extends ReadColumn {
  readonly low: string
  readonly high: string
}

export class ForgottenValues {
  readonly #deletes: boolean
  /** null: the target does not have it yet, so nothing is known to be gone. */
  #table: Sql | null = null
  /** null: nobody has asked. */
  #isEmpty: boolean | null = null

  constructor({ deletes }: { readonly deletes: boolean }) {
    this.#deletes = deletes
  }

  /** `table`: as other tables of the state are named; null: there is none. */
  use(table: Sql | null): void {
    this.#table = table
    this.#isEmpty = null
  }

  /** Whether nothing was noted when this was first asked, nor has been since by this process. */
  async isEmpty(connection: Connection): Promise<boolean> {
    if (this.#table === null) return true
    const isEmpty =
      this.#isEmpty ?? (await connection.row(sql`SELECT 1 FROM ${this.#table} LIMIT 1`)) === null
    // Another connection of this process may have noted something meanwhile.
    return (this.#isEmpty ??= isEmpty)
  }

  get exists(): boolean {
    return this.#table !== null
  }

  /** A query of "low" and "high", as texts. */
  of(one: ReadColumn): Sql {
    if (this.#table === null) return sql`SELECT '' AS low, '' AS high WHERE false`
    return sql`SELECT low, high FROM ${this.#inForce(isOf(one))} WHERE low IS NOT NULL`
  }

  /** In the transaction that removes the rows: all that is known of the column from here on. */
  async write(
    connection: Connection,
    one: ReadColumn,
    ranges: readonly Pick<ForgottenRange, 'low' | 'high'>[],
  ): Promise<void> {
    if (this.#table === null || ranges.length === 0) return
    if (await this.#isKnown(connection, one, ranges)) return
    this.#isEmpty = false
    const next = await this.#next(connection)
    if (this.#deletes) await connection.run(sql`DELETE FROM ${this.#table} WHERE ${isOf(one)}`)
    const { reader, model, column } = one
    const rows = ranges.map(({ low, high }) => [
      next,
      ...[reader, model, column].map(foldCase),
      low,
      high,
    ])
    await connection.run(sql`INSERT INTO ${this.#table} VALUES ${sql.rows(rows)}`)
  }

  /** A query of "low" and "high" of the reader's own column, as texts. */
  remadeOf(reader: ModelName, column: string): Sql {
    return this.of({ reader, model: NO_TABLE, column })
  }

  /** Whether anything is noted of tables that it reads. */
  hasReader(connection: Connection, reader: ModelName): Promise<boolean> {
    return this.#has(connection, sql`reader = ${name(reader)} AND model <> ${name(NO_TABLE)}`)
  }

  hasRemade(connection: Connection, reader: ModelName): Promise<boolean> {
    return this.#has(connection, isRemade(reader))
  }

  /** In the transaction that makes the rows, or removes some that they are made of: all that counts from here on. */
  async writeRemade(
    connection: Connection,
    reader: ModelName,
    column: string,
    ranges: readonly Pick<ForgottenRange, 'low' | 'high'>[],
  ): Promise<void> {
    if (ranges.length === 0) return this.endRemade(connection, reader)
    await this.write(connection, { reader, model: NO_TABLE, column }, ranges)
  }

  /** In the transaction that gives the table rows which it had before. */
  async endRemade(connection: Connection, reader: ModelName): Promise<void> {
    await this.#clear(connection, isRemade(reader))
  }

  /** In the transaction that makes the table of a reader from nothing: it has no rows of what is gone. */
  async clearReader(connection: Connection, reader: ModelName): Promise<void> {
    await this.#clear(connection, sql`reader = ${name(reader)}`)
  }

  /** In the transaction that makes the table from nothing, of all that there ever was. */
  async clearTable(connection: Connection, model: ModelName): Promise<void> {
    await this.#clear(connection, sql`model = ${name(model)}`)
  }

  /** The relation goes. */
  async drop(connection: Connection, model: ModelName): Promise<void> {
    await this.#clear(connection, isAbout(model))
  }

  /** Nothing is known under the new name. */
  async rename(connection: Connection, from: ModelName, to: ModelName): Promise<void> {
    if (this.#table === null) return
    const renamed = (column: 'reader' | 'model') =>
      sql`CASE WHEN ${sql.ident(column)} = ${name(from)} THEN ${name(to)} ELSE ${sql.ident(column)} END`
    await this.#copy(connection, isAbout(from), [
      renamed('reader'),
      renamed('model'),
      sql.ident('col'),
    ])
    await this.#clear(connection, isAbout(from))
  }

  async renameColumn(
    connection: Connection,
    model: ModelName,
    { from, to }: { readonly from: string; readonly to: string },
  ): Promise<void> {
    if (this.#table === null || foldCase(from) === foldCase(to)) return
    const isOfTable = sql`(model = ${name(model)} OR ${isRemade(model)})`
    const isNamed = sql`${isOfTable} AND col = ${name(from)}`
    await this.#clear(connection, sql`${isOfTable} AND col = ${name(to)}`)
    await this.#copy(connection, isNamed, [sql.ident('reader'), sql.ident('model'), name(to)])
    await this.#clear(connection, isNamed)
  }

  async readAll(connection: Connection): Promise<readonly ForgottenRange[]> {
    if (this.#table === null) return []
    return (await connection.texts(sql`
      SELECT reader, model, col AS "column", low, high FROM ${this.#inForce(sql`true`)}
      WHERE low IS NOT NULL`)) as unknown as readonly ForgottenRange[]
  }

  /** Those of another target, as they are there. */
  async adopt(connection: Connection, all: readonly ForgottenRange[]): Promise<void> {
    if (this.#table === null || all.length === 0) return
    this.#isEmpty = false
    const next = await this.#next(connection)
    const rows = all.map(({ reader, model, column, low, high }) => [
      next,
      reader,
      model,
      column,
      low,
      high,
    ])
    await connection.run(sql`INSERT INTO ${this.#table} VALUES ${sql.rows(rows)}`)
  }

  /** Deletes what no longer counts. Returns the rows. */
  async prune(connection: Connection): Promise<number> {
    if (this.#table === null) return 0
    return connection.run(sql`
      DELETE FROM ${this.#table} AS f WHERE low IS NULL OR seq < (
        SELECT max(seq) FROM ${this.#table} AS last
        WHERE last.reader = f.reader AND last.model = f.model AND last.col = f.col)`)
  }

  /** A lake keeps what is written again, until `eider maintain`. */
  async #isKnown(
    connection: Connection,
    one: ReadColumn,
    ranges: readonly Pick<ForgottenRange, 'low' | 'high'>[],
  ): Promise<boolean> {
    const textOf = ({ low, high }: Pick<ForgottenRange, 'low' | 'high'>) => `${low}\0${high}`
    const found = (await connection.texts(this.of(one))) as unknown as typeof ranges
    const known = new Set(found.map(textOf))
    return known.size === ranges.length && ranges.every((range) => known.has(textOf(range)))
  }

  async #copy(connection: Connection, which: Sql, names: readonly Sql[]): Promise<void> {
    const next = await this.#next(connection)
    await connection.run(sql`
      INSERT INTO ${this.#table!} SELECT ${sql.value(next)}, ${sql.join(names)}, low, high
      FROM ${this.#inForce(which)} WHERE low IS NOT NULL`)
  }

  async #clear(connection: Connection, which: Sql): Promise<void> {
    if (this.#table === null) return
    if (this.#deletes) {
      await connection.run(sql`DELETE FROM ${this.#table} WHERE ${which}`)
      return
    }
    // On a lake a statement that inserts nothing makes a snapshot, too.
    if (!(await this.#has(connection, which))) return
    const next = await this.#next(connection)
    await connection.run(sql`
      INSERT INTO ${this.#table} SELECT DISTINCT ${sql.value(next)}, reader, model, col, NULL, NULL
      FROM ${this.#inForce(which)} WHERE low IS NOT NULL`)
  }

  async #has(connection: Connection, which: Sql): Promise<boolean> {
    if (this.#table === null) return false
    const found = sql`FROM ${this.#inForce(which)} WHERE low IS NOT NULL`
    return (await connection.row(sql`SELECT 1 ${found} LIMIT 1`)) !== null
  }

  async #next(connection: Connection): Promise<number> {
    const row = await connection.row(
      sql`SELECT coalesce(max(seq), 0) + 1 AS next FROM ${this.#table!}`,
    )
    return Number(row!['next'])
  }

  #inForce(which: Sql): Sql {
    return sql`(FROM ${this.#table!} WHERE ${which} QUALIFY seq = max(seq) OVER (PARTITION BY reader, model, col))`
  }
}

const name = (one: string): Sql => sql.value(foldCase(one))

/** Stands for the column of the reader itself. */
const NO_TABLE = '' as ModelName

const isRemade = (reader: ModelName): Sql =>
  sql`(reader = ${name(reader)} AND model = ${name(NO_TABLE)})`

const isOf = ({ reader, model, column }: ReadColumn): Sql =>
  sql`reader = ${name(reader)} AND model = ${name(model)} AND col = ${name(column)}`

const isAbout = (model: ModelName): Sql => sql`(reader = ${name(model)} OR model = ${name(model)})`
