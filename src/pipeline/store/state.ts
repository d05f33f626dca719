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
import type { Kind, Model } from '../../core/model.ts'
import { limits } from '../../core/limits.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { type Catalog, catalogKey } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import type { RunSummary } from '../results.ts'

export const STATE_SCHEMA = '_eider'
const STATE_FORMAT = 1

/** The recorded state of a relation in the warehouse. */
export interface ModelRecord {
  readonly kind: Kind
  /** Identity of everything that the content depends on, at the last build. */
  readonly fingerprint: string
  /** Identity of the content; what downstream fingerprints and published files are built from. */
  readonly version: string
  readonly definition: string
  /** True when the project no longer has the model; the relation is kept. */
  readonly removed: boolean
}

/** Whether an earlier run has made the relation by another definition. */
export const isEdited = (
  record: ModelRecord | null | undefined,
  { definition }: Pick<Model, 'definition'>,
): boolean => record != null && record.definition !== definition

/** By the opening of the buffer the last segment of it that is in the table. */
export type FlushPosition = ReadonlyMap<number, number>

export interface AckRecord {
  readonly id: string
  readonly target: ModelName
  readonly opening: number
}

export interface State {
  readonly models: ReadonlyMap<ModelName, ModelRecord>
  readonly positions: ReadonlyMap<ModelName, FlushPosition>
  readonly acks: readonly AckRecord[]
}

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

export async function ensureState(connection: Connection, catalog: Catalog): Promise<void> {
  if (!catalog.relations.has(catalogKey(STATE_SCHEMA, 'format')))
    return connection.transact(async () => {
      await connection.run(sql.join(layout, sql`;\n`))
    })
  await checkFormat(connection)
}

async function checkFormat(connection: Connection): Promise<void> {
  const row = await connection.row(sql`SELECT format FROM _eider.format`)
  const format = numberOf(row?.['format'])
  if (format === STATE_FORMAT) return
  throw new EnvironmentError(
    'warehouse-format',
    `the warehouse has state format ${format}, this version of eider knows ${STATE_FORMAT}`,
    { hint: 'use the version of eider that wrote it' },
  )
}

/** Records take the name of the model in the project where the two differ only in case. */
export async function readState(
  connection: Connection,
  names: Iterable<ModelName> = [],
): Promise<State> {
  const spelled = new Map(Array.from(names, (name) => [foldCase(name), name]))
  const models = await connection.texts(sql`
    SELECT model, kind, fingerprint, version, definition, removed_at IS NOT NULL AS removed FROM _eider.models`)
  const acks = await connection.rows(
    sql`SELECT claim_id, target, opening FROM _eider.acks ORDER BY target, segment`,
  )
  return {
    models: new Map(
      models.map((row): [ModelName, ModelRecord] => [
        spelled.get(foldCase(textOf(row['model']))) ?? (row['model'] as ModelName),
        {
          kind: row['kind'] as Kind,
          fingerprint: textOf(row['fingerprint']),
          version: textOf(row['version']),
          definition: textOf(row['definition']),
          removed: row['removed'] === true,
        },
      ]),
    ),
    positions: await readPositions(connection),
    acks: acks.map(({ claim_id, target, opening }) => ({
      id: textOf(claim_id),
      target: target as ModelName,
      opening: numberOf(opening),
    })),
  }
}

/** For commands that change nothing: a warehouse that no run has written has no state. */
export async function readStateIfAny(
  connection: Connection,
  catalog: Catalog,
  names: Iterable<ModelName>,
): Promise<State> {
  const exists = catalog.relations.has(catalogKey(STATE_SCHEMA, 'format'))
  if (!exists) return { models: new Map(), positions: new Map(), acks: [] }
  await checkFormat(connection)
  return readState(connection, names)
}

export async function readPositions(
  connection: Connection,
): Promise<ReadonlyMap<ModelName, FlushPosition>> {
  const rows = await connection.rows(
    sql`SELECT target, opening, segment FROM _eider.flush_position ORDER BY target, opening`,
  )
  const positions = new Map<ModelName, Map<number, number>>()
  for (const { target, opening, segment } of rows) {
    const position = positions.get(target as ModelName) ?? new Map<number, number>()
    positions.set(target as ModelName, position.set(numberOf(opening), numberOf(segment)))
  }
  return positions
}

/** Whether a segment is in the table, for all that the position of its target says. */
export const isFlushed = (
  position: FlushPosition | undefined,
  { opening, segment }: { readonly opening: number; readonly segment: number },
): boolean => segment <= (position?.get(opening) ?? -1)

/** A model that was built, and what it was built from. */
export interface NewRecord {
  readonly model: Model
  readonly fingerprint: string
  readonly version: string
}

/** Call this in the transaction that built the relations. `models` has no primary key: an index costs more than both. */
export async function recordModels(
  connection: Connection,
  runId: string,
  records: readonly NewRecord[],
): Promise<void> {
  if (records.length === 0) return
  const names = sql.join(records.map(({ model }) => sql`lower(${sql.value(model.name)})`))
  const rows = records.map(
    ({ model, fingerprint, version }) =>
      sql`(${sql.value(model.name)}, ${sql.value(model.kind)}, ${sql.value(fingerprint)}, ${sql.value(version)},
      ${sql.value(model.definition)}, ${sql.value(runId)}, now(), NULL)`,
  )
  await connection.run(sql`
    DELETE FROM _eider.models WHERE lower(model) IN (${names});
    INSERT INTO _eider.models
    (model, kind, fingerprint, version, definition, run_id, built_at, removed_at)
    VALUES ${sql.join(rows)}`)
}

export async function recordRemoved(
  connection: Connection,
  models: readonly ModelName[],
): Promise<void> {
  const names = sql.join(models.map((name) => sql.value(name)))
  await connection.run(sql`UPDATE _eider.models SET removed_at = now() WHERE model IN (${names})`)
}

/**
 * `results` is what JSON prints, for `eider history`, which knows the last limits.keptRuns runs. Returns the bytes of the
 * record, which in the log are more by some for its row.
 */
export async function recordRun(
  connection: Connection,
  { runId, startedAt, ms, ok }: RunSummary,
  results: unknown,
): Promise<number> {
  const text = JSON.stringify(results)
  const finishedAt = new Date(startedAt.getTime() + Math.round(ms))
  await connection.run(sql`
    INSERT INTO _eider.runs (run_id, started_at, finished_at, ok, summary)
    VALUES (${sql.value(runId)}, ${sql.value(startedAt.toISOString())}, ${sql.value(finishedAt.toISOString())},
      ${sql.value(ok)}, ${sql.value(text)})`)
  await connection.run(sql`
    DELETE FROM _eider.runs WHERE started_at <= (
      SELECT started_at FROM _eider.runs ORDER BY started_at DESC LIMIT 1 OFFSET ${sql.value(limits.keptRuns)})`)
  return Buffer.byteLength(text)
}
