// What runs have built of ranges of models, in both stores: a table that is made before the first of them is recorded, so
// that a target without any is stored as it always was.
//
//   _eider.slices   one row per range and build: from range_start on and below range_end, where NULL is no limit. The newest
//                   row that contains a value says by which definition the rows with that value were made, and by which
//                   rule after a dot (pipeline/rules/rule.ts); one without a definition, that the table was dropped, or
//                   made from nothing by some of its ranges only, or that a longer one has taken the place of this one
//
// Rows are only ever inserted, since on a lake a DELETE would refuse those who insert meanwhile. They are read where a model
// needs them, not at the start of a run: there may be many.

import { type ModelName, spelledAs } from '../core/names.ts'
import { type Sql, sql } from '../core/sql.ts'
import { type EngineCatalog, catalogKey } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { OlderRowsTable } from './older-rows.ts'
import { kinds } from '../core/kinds.ts'
import type { ValueRange } from '../core/step.ts'
import {
  type NewRecord,
  type RecordedRange,
  type SliceRecord,
  type SlicesSummary,
  STATE_SCHEMA,
} from './state.ts'

const TABLE = sql`CREATE TABLE IF NOT EXISTS _eider.slices (
  seq BIGINT, model VARCHAR, range_start VARCHAR, range_end VARCHAR, definition VARCHAR, run_id VARCHAR, built_at TIMESTAMPTZ)`

/** Rows before one without limits say nothing, and neither do those whose range was built again. */
const inForce = (table: Sql, models: Iterable<string>): Sql => {
  const names = [...models].map((name) => sql`lower(${sql.value(name)})`)
  return sql`(
    FROM ${table} s
    WHERE ${names.length === 0 ? sql`false` : sql`lower(model) IN (${sql.join(names)})`}
      AND seq >= coalesce((
        SELECT max(seq) FROM ${table} b
        WHERE lower(b.model) = lower(s.model) AND b.range_start IS NULL AND b.range_end IS NULL), 0)
    QUALIFY definition IS NOT NULL
      AND row_number() OVER (PARTITION BY lower(model), range_start, range_end ORDER BY seq DESC) = 1)`
}

/** The rows as they were then: rows only ever come. */
const builtBy = (table: Sql, until: Date | null): Sql =>
  until === null
    ? table
    : sql`(FROM ${table} WHERE coalesce(built_at <= ${sql.value(until.toISOString())}::TIMESTAMPTZ, true))`

const LAST = sql`(SELECT coalesce(max(seq), 0) FROM _eider.slices)`

export class SliceTable {
  readonly #deletes: boolean

  /** `deletes`: rows that no longer count may be deleted at any time. */
  constructor({ deletes }: { readonly deletes: boolean }) {
    this.#deletes = deletes
  }

  /** It goes with the ranges. */
  readonly olderRows = new OlderRowsTable()
  #exists = false
  /** With its database: in a dry run another one comes first. */
  #table = sql`_eider.slices`

  /** Call this before all else. */
  look(catalog: EngineCatalog): void {
    const { relations, database } = catalog
    this.olderRows.look(catalog)
    this.#exists = relations.has(catalogKey(STATE_SCHEMA, 'slices'))
    this.#table = sql.ident(database, STATE_SCHEMA, 'slices')
  }

  /** Oldest first. Records take the name of the model in `models` where the two differ only in case. */
  async read(
    connection: Connection,
    models: Iterable<ModelName>,
    until: Date | null = null,
  ): Promise<readonly SliceRecord[]> {
    if (!this.#exists) return []
    const names = [...models]
    const spelled = spelledAs(names)
    const rows = (await connection.texts(sql`
      SELECT model, range_start AS start, range_end AS "end", definition, run_id AS "runId", built_at::VARCHAR AS "builtAt"
      FROM ${inForce(builtBy(this.#table, until), names)} ORDER BY seq`)) as unknown as readonly SliceRecord[]
    return rows.map((row) => ({ ...row, model: spelled(row.model), ...definitionIn(row) }))
  }

  async summarize(
    connection: Connection,
    models: Iterable<ModelName>,
  ): Promise<ReadonlyMap<ModelName, SlicesSummary>> {
    const names = [...models]
    if (!this.#exists || names.length === 0) return new Map()
    const lower = sql.join(names.map((name) => sql`lower(${sql.value(name)})`))
    const rows = (await connection.texts(sql`
      FROM (
        SELECT lower(model) AS model, definition, max(seq) AS seq,
          max(seq) FILTER (range_start IS NULL AND range_end IS NULL) AS whole
        FROM ${this.#table} WHERE lower(model) IN (${lower}) GROUP BY ALL)
      SELECT model, definition, coalesce(whole = max(whole) OVER (PARTITION BY model), false) AS "isWhole"
      QUALIFY definition IS NOT NULL AND seq >= coalesce(max(whole) OVER (PARTITION BY model), 0)`)) as unknown as readonly Summed[]
    const found = new Map<ModelName, SlicesSummary>()
    const spelled = spelledAs(names)
    for (const row of rows) {
      const name = spelled(row.model)
      const before = found.get(name)
      found.set(name, {
        isWhole: row.isWhole || before?.isWhole === true,
        madeBy: [...(before?.madeBy ?? []), definitionIn(row)],
      })
    }
    return found
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
    await this.olderRows.record(connection, runId, records)
    if (!this.#exists) return
    const rows = records.flatMap((record) => {
      const { model, ranges = [], isNewTable = false, rule: own = null, outgrown = null } = record
      const row = ({ start, end, builtAt }: RecordedRange, definition: string | null) =>
        sql`${sql.value(model.name)}, ${sql.value(start)}, ${sql.value(end)}, ${sql.value(definition)},
          ${sql.value(runId)}, ${builtAt == null ? sql`now()` : sql`${sql.value(builtAt)}::TIMESTAMPTZ`}`
      const forgets =
        isNewTable &&
        kinds[model.kind].keepsRows &&
        !ranges.some(({ start, end }) => start === null && end === null)
      return [
        ...(forgets ? [row(ALL, null)] : []),
        ...(outgrown === null || this.#deletes ? [] : [row(outgrown, null)]),
        ...ranges.map((range) => {
          const { definition = model.definition, rule = own } = range
          return row(range, textOf({ definition, rule }))
        }),
      ]
    })
    await insert(connection, rows)
    if (this.#deletes)
      for (const { model, outgrown = null } of records)
        if (outgrown !== null)
          await connection.run(sql`
            DELETE FROM _eider.slices
            WHERE lower(model) = lower(${sql.value(model.name)})
              AND range_start IS NOT DISTINCT FROM ${sql.value(outgrown.start)}
              AND range_end IS NOT DISTINCT FROM ${sql.value(outgrown.end)}`)
  }

  /** Those of another target, as they are there. */
  async adopt(connection: Connection, slices: readonly SliceRecord[]): Promise<void> {
    await insert(
      connection,
      slices.map((slice) => {
        const { model, start, end, runId, builtAt } = slice
        const values = sql.values([model, start, end, textOf(slice), runId])
        return sql`${values}, ${sql.value(builtAt)}::TIMESTAMPTZ`
      }),
    )
  }

  async forget(connection: Connection, model: ModelName): Promise<void> {
    await this.olderRows.forget(connection, model)
    if (this.#exists)
      await connection.run(sql`
        INSERT INTO _eider.slices (seq, model) SELECT ${LAST} + 1, ${sql.value(model)}`)
  }

  /** Forget them under the old name then. */
  async rename(connection: Connection, from: ModelName, to: ModelName): Promise<void> {
    await this.olderRows.rename(connection, from, to)
    if (!this.#exists) return
    await connection.run(sql`
      INSERT INTO _eider.slices
      SELECT ${LAST} + row_number() OVER (ORDER BY seq), ${sql.value(to)}, * EXCLUDE (seq, model)
      FROM ${inForce(this.#table, [from])}`)
  }
}

interface Summed {
  readonly model: ModelName
  readonly definition: string
  readonly isWhole: boolean
}

const ALL: ValueRange = { start: null, end: null }

type MadeBy = Pick<SliceRecord, 'definition' | 'rule'>

const textOf = ({ definition, rule }: MadeBy): string =>
  rule === null ? definition : `${definition}.${rule}`

function definitionIn({ definition: text }: { readonly definition: string }): MadeBy {
  const [definition = '', rule = null] = text.split('.')
  return { definition, rule }
}

async function insert(connection: Connection, rows: readonly Sql[]): Promise<void> {
  if (rows.length === 0) return
  const values = rows.map((row, i) => sql`(${LAST} + ${sql.value(i + 1)}, ${row})`)
  await connection.run(sql`INSERT INTO _eider.slices VALUES ${sql.join(values)}`)
}
