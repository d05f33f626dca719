// What no range tells of rows that an older rule has made, in both stores: a table that is made before the first of them is
// recorded, as that of slices.ts, and like it only ever grows.
//
//   _eider.older_rows   the newest row of a model counts: how many rows of its table may be of an older rule though they
//                       lie in a range of the rule in force, and up to when ranges of rules other than that of the
//                       definition `meant_for` are meant to stay. A row without a number says that the table was dropped or made from nothing

import { type ModelName, spelledAs } from '../core/names.ts'
import { type Sql, sql } from '../core/sql.ts'
import { type EngineCatalog, catalogKey } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'

/** What no range tells of the rows of a table that older rules have made. */
export interface LeftRows {
  /** At most so many lie in ranges of the rule in force. */
  readonly left: number
  /** Ranges that were built by then are meant to stay as they are, but those of `meantFor`; ISO 8601. */
  readonly meantAt: string | null
  /** The definition that was in force then. */
  readonly meantFor: string | null
}

export interface NewLeft extends LeftRows {
  /** What there is of older rules by the end of the transaction is meant to stay. */
  readonly isMeant?: true
}

/** What a build has to say of it. */
interface LeftRecord {
  readonly model: { readonly name: ModelName }
  readonly left?: NewLeft
  readonly isNewTable?: boolean
}

const TABLE = sql`CREATE TABLE IF NOT EXISTS _eider.older_rows (
  seq BIGINT, model VARCHAR, rows_left BIGINT, meant_at TIMESTAMPTZ, meant_for VARCHAR, run_id VARCHAR, noted_at TIMESTAMPTZ)`

const newest = (until: Date | null): Sql => sql`(
  FROM _eider.older_rows
  WHERE ${until === null ? sql`true` : sql`noted_at <= ${sql.value(until.toISOString())}::TIMESTAMPTZ`}
  QUALIFY row_number() OVER (PARTITION BY lower(model) ORDER BY seq DESC) = 1)`

const LAST = sql`(SELECT coalesce(max(seq), 0) FROM _eider.older_rows)`

export class OlderRowsTable {
  #exists = false

  /** Call this before all else. */
  look({ relations }: EngineCatalog): void {
    this.#exists = relations.has(catalogKey('_eider', 'older_rows'))
  }

  /** Of the models of which something is recorded, in their spelling; `until`: as it was then. */
  async read(
    connection: Connection,
    models: Iterable<ModelName>,
    until: Date | null = null,
  ): Promise<ReadonlyMap<ModelName, LeftRows>> {
    if (!this.#exists) return new Map()
    const spelled = spelledAs(models)
    const rows = await connection.texts(sql`
      SELECT model, rows_left::VARCHAR AS "left", meant_at::VARCHAR AS meant, meant_for AS definition
      FROM ${newest(until)} WHERE rows_left IS NOT NULL`)
    return new Map(
      rows.map(({ model, left, meant, definition }) => [
        spelled(model as string),
        {
          left: Number(left),
          meantAt: meant as string | null,
          meantFor: definition as string | null,
        },
      ]),
    )
  }

  async make(connection: Connection): Promise<void> {
    if (!this.#exists) await connection.transact(() => connection.run(TABLE))
    this.#exists = true
  }

  /** In the transaction that built the relations. */
  async record(
    connection: Connection,
    runId: string,
    records: readonly LeftRecord[],
  ): Promise<void> {
    for (const { model, left, isNewTable = false } of records) {
      if (!this.#exists) return
      if (isNewTable) await this.forget(connection, model.name)
      else if (left !== undefined)
        await insert(connection, model.name, [
          sql.value(left.left),
          left.isMeant === true ? sql`now()` : sql`${sql.value(left.meantAt)}::TIMESTAMPTZ`,
          sql.value(left.meantFor),
          sql.value(runId),
        ])
    }
  }

  /** Those of another target, as they are there. */
  async adopt(connection: Connection, rows: ReadonlyMap<ModelName, LeftRows>): Promise<void> {
    for (const [model, { left, meantAt, meantFor }] of rows)
      await insert(connection, model, [
        sql.value(left),
        sql`${sql.value(meantAt)}::TIMESTAMPTZ`,
        sql.value(meantFor),
        sql`NULL`,
      ])
  }

  async forget(connection: Connection, model: ModelName): Promise<void> {
    if (this.#exists) await insert(connection, model, [sql`NULL`, sql`NULL`, sql`NULL`, sql`NULL`])
  }

  /** Forget them under the old name then. */
  async rename(connection: Connection, from: ModelName, to: ModelName): Promise<void> {
    if (!this.#exists) return
    await connection.run(sql`
      INSERT INTO _eider.older_rows
      SELECT ${LAST} + 1, ${sql.value(to)}, * EXCLUDE (seq, model)
      FROM ${newest(null)} WHERE lower(model) = lower(${sql.value(from)})`)
  }
}

const insert = (connection: Connection, model: ModelName, rest: readonly Sql[]): Promise<number> =>
  connection.run(sql`
    INSERT INTO _eider.older_rows SELECT ${LAST} + 1, ${sql.value(model)}, ${sql.join(rest)}, now()`)
