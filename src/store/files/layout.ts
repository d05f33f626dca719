// What the tool remembers in the warehouse, in the schema `_eider`. State changes in the same transactions as the data
// that it describes.
//
//   format            one row: the number of this layout
//   runs              one row per finished run
//   models            one row per relation that a run has made; `removed_at` once its model is gone from the project
//   macros            those that a run has made, as the author wrote them
//   acks              claims whose events are committed and whose segment may still be in the buffer
//   flush_position    per target and opening of its buffer (buffer/segment.ts) the last segment committed: the fence that no
//                     later commit may move back
//   rejected_events   events that do not fit their table, set aside with the reason; `exact` as in their line

import { EnvironmentError } from '../../core/failures.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { type EngineCatalog, catalogKey } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
import { STATE_SCHEMA } from '../state.ts'

const STATE_FORMAT = 1

const layout: readonly Sql[] = [
  sql`CREATE SCHEMA _eider`,
  sql`CREATE TABLE _eider.format (format INTEGER NOT NULL)`,
  sql`INSERT INTO _eider.format VALUES (${sql.value(STATE_FORMAT)})`,
  sql`CREATE TABLE _eider.runs (
    run_id VARCHAR PRIMARY KEY, started_at TIMESTAMPTZ NOT NULL, finished_at TIMESTAMPTZ NOT NULL,
    ok BOOLEAN NOT NULL, summary JSON NOT NULL)`,
  sql`CREATE TABLE _eider.models (
    model VARCHAR NOT NULL, kind VARCHAR NOT NULL, fingerprint VARCHAR NOT NULL, version VARCHAR NOT NULL,
    definition VARCHAR NOT NULL, run_id VARCHAR NOT NULL, built_at TIMESTAMPTZ NOT NULL, removed_at TIMESTAMPTZ)`,
  sql`CREATE TABLE _eider.macros (name VARCHAR NOT NULL, text VARCHAR NOT NULL)`,
  sql`CREATE TABLE _eider.acks (
    claim_id VARCHAR PRIMARY KEY, target VARCHAR NOT NULL, segment UBIGINT NOT NULL, opening UBIGINT NOT NULL,
    events UBIGINT NOT NULL, committed_at TIMESTAMPTZ NOT NULL)`,
  sql`CREATE TABLE _eider.flush_position (
    target VARCHAR, opening UBIGINT, segment UBIGINT NOT NULL, flushed_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (target, opening))`,
  sql`CREATE TABLE _eider.rejected_events (
    target VARCHAR NOT NULL, claim_id VARCHAR NOT NULL, seq UBIGINT NOT NULL, reason VARCHAR NOT NULL,
    event VARCHAR NOT NULL, exact MAP(VARCHAR, VARCHAR), received_at TIMESTAMPTZ NOT NULL, rejected_at TIMESTAMPTZ NOT NULL)`,
]

export async function ensureState(connection: Connection, catalog: EngineCatalog): Promise<void> {
  if (!catalog.relations.has(catalogKey(STATE_SCHEMA, 'format')))
    return connection.transact(async () => {
      await connection.run(sql.join(layout, sql`;\n`))
    })
  await checkFormat(connection)
}

export async function checkFormat(connection: Connection): Promise<void> {
  const row = await connection.row(sql`SELECT format FROM _eider.format`)
  const format = numberOf(row?.['format'])
  if (format === STATE_FORMAT) return
  throw new EnvironmentError(
    'warehouse-format',
    `the warehouse has state format ${format}; this version of eider supports ${STATE_FORMAT}`,
    { hint: 'use the version of eider that wrote it' },
  )
}
