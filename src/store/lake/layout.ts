// What the tool remembers in a lake, in the schema `_eider`. State changes in the same transactions as the data that it
// describes. What never conflicts is only ever inserted; old rows are deleted by `eider maintain` alone.
//
//   format                a view of one row: the number of this layout, and the project whose tables these are
//   builds                one row per relation and build; the one with the greatest `seq` of a model counts. `kind` is
//                         empty where the relation was dropped. Rows of the model '' are marks of runs, of which the
//                         last counts too: `definition` says 'started', 'published' or 'ended', `fingerprint` the
//                         models that the run has locked, as JSON; empty for all. The row of the model 'macros', which
//                         can be no model's, has those of the project as JSON in `definition`
//   runs                  one row per finished run
//   published             the states that services show, as manifests
//   head                  one row, updated by each publication, so that two of them conflict
//   rejected_events       events that do not fit their table, set aside with the reason
//   "flushed raw.orders"  per opening of a buffer the last segment of the target that is in its table; a table for each
//                         target, since conflicts are per table. Opening 0 is the sentinel
//
// A table more is eight messages more to PostgreSQL when state is read, a row of an older schema sixteen. Rows lie
// in PostgreSQL, but for those that may be large.

import { EnvironmentError } from '../../core/failures.ts'
import { describeLake, LAKE_DATABASE, type LakeTarget, STORED_SCHEMA } from '../../core/lake.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError, isConflict } from '../../duckdb/errors.ts'
import { numberOf } from '../../duckdb/values.ts'
import { STATE_SCHEMA } from '../state.ts'

const LAKE_FORMAT = 1

/** Rows up to this number are written into PostgreSQL, and no file. */
const INLINED_ROWS = 100_000

/** Whose rows lie in files. They are made before the option of their schema, so that they have no table in PostgreSQL to be read as well. */
const largeTables: readonly Sql[] = [
  sql`CREATE TABLE _eider.published (seq BIGINT, id VARCHAR, published_at TIMESTAMPTZ, run_id VARCHAR, manifest JSON)`,
  sql`CREATE TABLE _eider.rejected_events (target VARCHAR, claim_id VARCHAR, seq UBIGINT, reason VARCHAR, event VARCHAR,
    exact MAP(VARCHAR, VARCHAR), received_at TIMESTAMPTZ, rejected_at TIMESTAMPTZ, opening UBIGINT)`,
]

const tables: readonly Sql[] = [
  sql`CREATE TABLE _eider.runs (run_id VARCHAR, started_at TIMESTAMPTZ, finished_at TIMESTAMPTZ, ok BOOLEAN, summary JSON)`,
  sql`CREATE TABLE _eider.head (seq BIGINT)`,
  sql`INSERT INTO _eider.head VALUES (0)`,
  sql`CREATE TABLE _eider.builds (seq BIGINT, run_id VARCHAR, model VARCHAR, kind VARCHAR, fingerprint VARCHAR,
    version VARCHAR, definition VARCHAR, built_at TIMESTAMPTZ, removed BOOLEAN)`,
]

/**
 * Call this in the turn that makes the state, when the state is not there: an option of a schema that holds a view ends
 * the process. Finishes what a process that was killed here has begun.
 */
export async function makeLayout(connection: Connection, lake: LakeTarget): Promise<void> {
  // Options are taken by schemas and tables that are committed only.
  await unlessMade(connection, async () => {
    await connection.run(sql`CREATE SCHEMA IF NOT EXISTS _eider`)
    await connection.run(sql.join(largeTables, sql`;\n`))
  })
  await setInlining(connection, INLINED_ROWS, sql`schema => '_eider'`)
  for (const name of ['published', 'rejected_events'])
    await setInlining(connection, 0, sql`schema => '_eider', table_name => ${sql.value(name)}`)
  await unlessMade(connection, async () => {
    await connection.run(sql`
      CREATE VIEW _eider.format AS
      SELECT ${sql.value(LAKE_FORMAT)} AS format, ${sql.value(lake.project)} AS project`)
    await connection.run(sql`CREATE SCHEMA IF NOT EXISTS ${sql.ident(STORED_SCHEMA)}`)
    await connection.run(sql.join(tables, sql`;\n`))
  })
}

async function unlessMade(connection: Connection, make: () => Promise<unknown>): Promise<void> {
  try {
    await connection.transact(make)
  } catch (error) {
    if (!isConflict(error) && !isThere(error)) throw error
  }
}

/** It was made before this transaction began, and after this process had looked. */
const isThere = (error: unknown): boolean =>
  error instanceof DatabaseError && /already exists/.test(error.details.message)

const setInlining = (connection: Connection, rows: number, where: Sql): Promise<unknown> =>
  connection.run(
    sql`CALL ${sql.ident(LAKE_DATABASE)}.set_option('data_inlining_row_limit', ${sql.value(rows)}, ${where})`,
  )

/** Throws EnvironmentError. */
export function checkLayout(row: Readonly<Record<string, unknown>> | null, lake: LakeTarget): void {
  const format = numberOf(row?.['format'] as number)
  if (format !== LAKE_FORMAT)
    throw new EnvironmentError(
      'warehouse-format',
      `the lake has state format ${format}; this version of eider supports ${LAKE_FORMAT}`,
      { hint: 'use the version of eider that wrote it' },
    )
  if (row?.['project'] === lake.project) return
  throw new EnvironmentError(
    'lake-taken',
    `the lake holds the tables of the project ${String(row?.['project'])}, and this one is ${lake.project}: ${describeLake(lake)}`,
    { hint: 'set lake.schema to a separate schema' },
  )
}

/** For what changes a lake without a look at its state. Throws EnvironmentError. */
export async function requireOwnLake(connection: Connection, lake: LakeTarget): Promise<void> {
  checkLayout(await connection.row(sql`SELECT format, project FROM _eider.format`), lake)
}

/**
 * Throws EnvironmentError for a reader of a lake that belongs to another project. A lake that no run has finished making
 * belongs to nobody yet.
 */
export async function refuseOthersLake(connection: Connection, lake: LakeTarget): Promise<void> {
  const format = sql.ident(LAKE_DATABASE, STATE_SCHEMA, 'format')
  try {
    checkLayout(await connection.row(sql`SELECT format, project FROM ${format}`), lake)
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.details.type !== 'Catalog') throw error
  }
}
