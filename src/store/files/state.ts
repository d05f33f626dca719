// The state of a target in its database file, read and changed.

import type { Macro } from '../../core/model.ts'
import { limits } from '../../core/limits.ts'
import { type ModelName, spelledAs } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import { type EngineCatalog, catalogKey, readEngineCatalog } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import {
  type AckRecord,
  type FinishedRun,
  type Known,
  type ModelRecord,
  type NewRecord,
  NO_STATE,
  positionsOf,
  type SavedMacro,
  STATE_SCHEMA,
  type StateStore,
} from '../state.ts'
import { refuseUnfinishedMove } from '../moved-tables.ts'
import { checkFormat, ensureState } from './layout.ts'
import { type KnownRuns, saveLastState } from './last-state.ts'
import { allRuns, copyRun, recordWaitingRuns } from './run-results.ts'
import { ChangeTables } from '../changes.ts'
import { SliceTable } from '../slices.ts'

/** `stateDir`: `.eider`, or that of the target. */
export function fileState(stateDir: string): StateStore {
  let began: Began | null = null
  const slices = new SliceTable({ deletes: true })
  const changes = new ChangeTables({ deletes: true })
  return {
    ...withoutMemory,
    changes,
    olderRows: slices.olderRows,
    async read(connection, names) {
      const catalog = await readEngineCatalog(connection)
      slices.look(catalog)
      const exists = catalog.relations.has(catalogKey(STATE_SCHEMA, 'format'))
      if (!exists) return { catalog, state: NO_STATE, macros: [] }
      await checkFormat(connection)
      await changes.read(connection, catalog)
      return readKnown(connection, catalog, names)
    },
    async begin(connection, names, options) {
      const catalog = await readEngineCatalog(connection)
      if (options?.isMove !== true) refuseUnfinishedMove(catalog)
      await ensureState(connection, catalog)
      await recordWaitingRuns(connection, stateDir)
      slices.look(catalog)
      await changes.read(connection, catalog)
      began = await readKnown(connection, catalog, names)
      return began
    },
    change: (connection, work) => connection.transact(() => changes.together(connection, work)),
    saveForReaders: (connection) => saveLastState(connection, stateDir, began),
    async recordRun(connection, run, results) {
      if (changes.hasMore) await connection.transact(() => changes.prune(connection))
      const text = JSON.stringify(results)
      await recordRun(connection, run, text, began)
      // The next run makes up for what this one cannot write.
      await copyRun(stateDir, run.runId, text).catch(() => undefined)
      return Buffer.byteLength(text)
    },
    allRuns: () => allRuns(stateDir),
    readSlices: (connection, models, until) => slices.read(connection, models, until),
    summarizeSlices: (connection, models) => slices.summarize(connection, models),
    makeSlices: (connection) => slices.make(connection),
    makeOlderRows: (connection) => slices.olderRows.make(connection),
    makeChanges: (connection) => changes.make(connection),
    adoptSlices: (connection, records) => slices.adopt(connection, records),
    async recordModels(connection, runId, records) {
      await recordModels(connection, runId, records)
      await slices.record(connection, runId, records)
    },
    async forget(connection, model) {
      await forget(connection, model)
      await slices.forget(connection, model)
      await changes.drop(connection, model)
    },
    async rename(connection, from, to) {
      await rename(connection, from, to)
      await slices.rename(connection, from, to)
      await slices.forget(connection, from)
      await changes.rename(connection, from, to)
    },
    async recordRemoved(connection, _, models) {
      await recordRemoved(connection, models)
      for (const model of models) await changes.forget(connection, model)
    },
  }
}

/** What is known at the start of a run, with what is needed to spare it further queries. */
interface Began extends Known, KnownRuns {}

const withoutMemory = {
  async readRecord(connection: Connection, model: ModelName) {
    const { models } = await readAll(connection, [model])
    return models.get(model) ?? null
  },
  // One machine has one checkout.
  changedBack: () => Promise.resolve([]),
  readPositions: async (connection: Connection) => positionsOf(await connection.rows(POSITIONS)),
  recordMacros,
}

async function readKnown(
  connection: Connection,
  catalog: EngineCatalog,
  names: Iterable<ModelName>,
): Promise<Began> {
  const { macros, runs, lastRun, ...state } = await readAll(connection, names)
  return { catalog, macros, state, runs, lastRun }
}

const list = (query: Sql): Sql => sql`(SELECT coalesce(list(one), []) FROM (${query}) AS one)`

const POSITIONS = sql`SELECT target, opening, segment FROM _eider.flush_position ORDER BY target, opening`

/**
 * One query: a run with nothing to do has hardly any other. Records take the name of the model in the project where the
 * two differ only in case.
 */
async function readAll(connection: Connection, names: Iterable<ModelName>) {
  const spelled = spelledAs(names)
  const [found] = (await connection.texts(sql`
    SELECT ${list(sql`
      SELECT model, kind, fingerprint, version, definition, removed_at IS NOT NULL AS removed
      FROM _eider.models ORDER BY rowid`)} AS models,
    ${list(sql`SELECT claim_id AS id, target, opening FROM _eider.acks ORDER BY target, segment`)} AS acks,
    ${list(POSITIONS)} AS positions,
    ${list(sql`SELECT name, text FROM _eider.macros ORDER BY rowid`)} AS macros,
    (SELECT count(*) FROM _eider.runs) AS runs,
    (SELECT arg_max(run_id, started_at) FROM _eider.runs) AS last_run`)) as unknown as [Saved]
  return {
    models: new Map(found.models.map(({ model, ...record }) => [spelled(model), record])),
    positions: positionsOf(found.positions),
    acks: found.acks,
    macros: found.macros,
    runs: found.runs,
    lastRun: found.last_run,
  }
}

/** The rows as DuckDB writes them in JSON. */
interface Saved {
  readonly models: readonly (ModelRecord & { readonly model: ModelName })[]
  readonly acks: readonly AckRecord[]
  readonly positions: Parameters<typeof positionsOf>[0]
  readonly macros: readonly SavedMacro[]
  readonly runs: number
  readonly last_run: string | null
}

/** `models` has no primary key: an index costs more than both. */
async function recordModels(
  connection: Connection,
  runId: string,
  records: readonly NewRecord[],
): Promise<void> {
  if (records.length === 0) return
  // The last of several steps of a model says what the model is now.
  const last = [...new Map(records.map((record) => [record.model.name, record])).values()]
  const names = sql.join(last.map(({ model }) => sql`lower(${sql.value(model.name)})`))
  const rows = last.map(
    ({ model, fingerprint, version, removed = false }) =>
      sql`(${sql.value(model.name)}, ${sql.value(model.kind)}, ${sql.value(fingerprint)}, ${sql.value(version)},
      ${sql.value(model.definition)}, ${sql.value(runId)}, now(), ${removed ? sql`now()` : sql`NULL`})`,
  )
  await connection.run(sql`
    DELETE FROM _eider.models WHERE lower(model) IN (${names});
    INSERT INTO _eider.models
    (model, kind, fingerprint, version, definition, run_id, built_at, removed_at)
    VALUES ${sql.join(rows)}`)
}

async function recordRemoved(connection: Connection, models: readonly ModelName[]): Promise<void> {
  const names = sql.values(models)
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
  text: string,
  began: KnownRuns | null,
): Promise<void> {
  const finishedAt = new Date(startedAt.getTime() + Math.round(ms))
  await connection.run(sql`
    INSERT INTO _eider.runs (run_id, started_at, finished_at, ok, summary)
    VALUES (${sql.value(runId)}, ${sql.value(startedAt.toISOString())}, ${sql.value(finishedAt.toISOString())},
      ${sql.value(ok)}, ${sql.value(text)})`)
  if (began === null || began.runs >= limits.keptRuns)
    await connection.run(sql`
    DELETE FROM _eider.runs WHERE started_at <= (
      SELECT started_at FROM _eider.runs ORDER BY started_at DESC LIMIT 1 OFFSET ${sql.value(limits.keptRuns)})`)
}
