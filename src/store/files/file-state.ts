// The state of a target in its database file, read and changed.

import type { Kind, Macro } from '../../core/model.ts'
import { limits } from '../../core/limits.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import { sql } from '../../core/sql.ts'
import { type Catalog, catalogKey, readCatalog } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import {
  type FinishedRun,
  type FlushPosition,
  type Known,
  type ModelRecord,
  type NewRecord,
  NO_STATE,
  type SavedMacro,
  type State,
  STATE_SCHEMA,
  type StateStore,
} from '../state-store.ts'
import { checkFormat, ensureState } from './file-layout.ts'
import { saveLastState } from './last-state.ts'

/** `stateDir`: `.eider`, or that of the target. */
export const fileState = (stateDir: string): StateStore => ({
  async begin(connection, names) {
    const catalog = await readCatalog(connection)
    await ensureState(connection, catalog)
    return readKnown(connection, catalog, names)
  },
  async read(connection, names) {
    const catalog = await readCatalog(connection)
    const exists = catalog.relations.has(catalogKey(STATE_SCHEMA, 'format'))
    if (!exists) return { catalog, state: NO_STATE, macros: [] }
    await checkFormat(connection)
    return readKnown(connection, catalog, names)
  },
  async readRecord(connection, model) {
    const { models } = await readState(connection, [model])
    return models.get(model) ?? null
  },
  saveForReaders: (connection) => saveLastState(connection, stateDir),
  change: (connection, work) => connection.transact(work),
  readPositions,
  recordModels,
  recordRemoved: (connection, _, models) => recordRemoved(connection, models),
  recordMacros,
  recordRun,
  forget,
  rename,
})

async function readKnown(
  connection: Connection,
  catalog: Catalog,
  names: Iterable<ModelName>,
): Promise<Known> {
  const macros = await readMacros(connection)
  return { catalog, macros, state: await readState(connection, names) }
}

async function readMacros(connection: Connection): Promise<readonly SavedMacro[]> {
  const rows = await connection.rows(sql`SELECT name, text FROM _eider.macros ORDER BY rowid`)
  return rows.map(({ name, text }) => ({ name: textOf(name), text: textOf(text) }))
}

/** Records take the name of the model in the project where the two differ only in case. */
export async function readState(
  connection: Connection,
  names: Iterable<ModelName>,
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

async function readPositions(
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

/** `models` has no primary key: an index costs more than both. */
async function recordModels(
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

async function recordRemoved(connection: Connection, models: readonly ModelName[]): Promise<void> {
  const names = sql.join(models.map((name) => sql.value(name)))
  await connection.run(sql`UPDATE _eider.models SET removed_at = now() WHERE model IN (${names})`)
}

async function recordMacros(connection: Connection, macros: readonly Macro[]): Promise<void> {
  await connection.run(sql`DELETE FROM _eider.macros`)
  for (const { name, body } of macros)
    await connection.run(
      sql`INSERT INTO _eider.macros (name, text) VALUES (${sql.value(name)}, ${sql.value(body.text)})`,
    )
}

async function forget(connection: Connection, model: ModelName): Promise<void> {
  await connection.run(
    sql`DELETE FROM _eider.models WHERE lower(model) = lower(${sql.value(model)})`,
  )
}

async function rename(connection: Connection, from: ModelName, to: ModelName): Promise<void> {
  await connection.run(sql`
    UPDATE _eider.models SET model = ${sql.value(to)}, removed_at = NULL
    WHERE lower(model) = lower(${sql.value(from)})`)
}

/** The last limits.keptRuns runs are kept. */
async function recordRun(
  connection: Connection,
  { runId, startedAt, ms, ok }: FinishedRun,
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
