// What runs have built of ranges of models, in both stores: a table that is made before the first of them is recorded, so
// that a target without any is stored as it always was.
//
//   _eider.slices   one row per slice and build, and a row without a range where a table was made from nothing or dropped:
//                   rows of its model before it say nothing of the table that is there. Of one range the newest counts
//
// Rows are only ever inserted, since on a lake a DELETE would refuse those who insert meanwhile.

import type { ModelName } from '../core/names.ts'
import { type Sql, sql } from '../core/sql.ts'
import { type EngineCatalog, catalogKey } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { type NewRecord, type SliceRecord, spelledAs, STATE_SCHEMA } from './state.ts'

const TABLE = sql`CREATE TABLE IF NOT EXISTS _eider.slices (
  seq BIGINT, model VARCHAR, range_start VARCHAR, range_end VARCHAR, definition VARCHAR, run_id VARCHAR, built_at TIMESTAMPTZ)`

const IN_FORCE = sql`(
  FROM _eider.slices
  QUALIFY range_start IS NOT NULL
    AND seq > coalesce(max(seq) FILTER (range_start IS NULL) OVER (PARTITION BY lower(model)), 0)
    AND row_number() OVER (PARTITION BY lower(model), range_start, range_end ORDER BY seq DESC) = 1)`

const LAST = sql`(SELECT coalesce(max(seq), 0) FROM _eider.slices)`

export class SliceTable {
  #exists = false

  /** Oldest first. Records take the name of the model in `names` where the two differ only in case. */
  async read(
    connection: Connection,
    { relations }: EngineCatalog,
    names: Iterable<ModelName>,
  ): Promise<readonly SliceRecord[]> {
    this.#exists = relations.has(catalogKey(STATE_SCHEMA, 'slices'))
    if (!this.#exists) return []
    const spelled = spelledAs(names)
    const rows = (await connection.texts(sql`
      SELECT model, range_start AS start, range_end AS "end", definition, run_id AS "runId", built_at::VARCHAR AS "builtAt"
      FROM ${IN_FORCE} ORDER BY seq`)) as unknown as readonly SliceRecord[]
    return rows.map((row) => ({ ...row, model: spelled(row.model) }))
  }

  async make(connection: Connection): Promise<void> {
    if (!this.#exists) await connection.transact(() => connection.run(TABLE))
    this.#exists = true
  }

  /** In the transaction that built the relations. */
  async record(
    connection: Connection,
    runId: string,
    records: readonly NewRecord[],
  ): Promise<void> {
    if (!this.#exists) return
    const rows = records.flatMap((record) => {
      const { model, slice = 'whole', forgetsSlices = false } = record
      const row = (start: string | null, end: string | null) =>
        sql`${sql.value(model.name)}, ${sql.value(start)}, ${sql.value(end)}, ${sql.value(model.definition)},
          ${sql.value(runId)}, now()`
      return [
        ...(forgetsSlices ? [row(null, null)] : []),
        ...(slice === 'whole' ? [] : [row(slice.start, slice.end)]),
      ]
    })
    await insert(connection, rows)
  }

  /** Those of another target, as they are there. */
  async adopt(connection: Connection, slices: readonly SliceRecord[]): Promise<void> {
    await insert(
      connection,
      slices.map((slice) => {
        const { model, start, end, definition, runId, builtAt } = slice
        const texts = [model, start, end, definition, runId]
        return sql`${sql.join(texts.map((text) => sql.value(text)))}, ${sql.value(builtAt)}::TIMESTAMPTZ`
      }),
    )
  }

  async forget(connection: Connection, model: ModelName): Promise<void> {
    if (this.#exists)
      await connection.run(sql`
        INSERT INTO _eider.slices (seq, model) SELECT ${LAST} + 1, ${sql.value(model)}`)
  }

  /** Forget them under the old name then. */
  async rename(connection: Connection, from: ModelName, to: ModelName): Promise<void> {
    if (!this.#exists) return
    await connection.run(sql`
      INSERT INTO _eider.slices
      SELECT ${LAST} + row_number() OVER (ORDER BY seq), ${sql.value(to)}, * EXCLUDE (seq, model)
      FROM ${IN_FORCE} WHERE lower(model) = lower(${sql.value(from)})`)
  }
}

async function insert(connection: Connection, rows: readonly Sql[]): Promise<void> {
  if (rows.length === 0) return
  const values = rows.map((row, i) => sql`(${LAST} + ${sql.value(i + 1)}, ${row})`)
  await connection.run(sql`INSERT INTO _eider.slices VALUES ${sql.join(values)}`)
}
