// What earlier runs did, from `_eider.runs`: each row has the results of its run as JSON (docs/schemas/run_results.json).

import { limits } from '../core/limits.ts'
import type { ChangeWay, TableChanges } from '../core/report/progress.ts'
import { type Sql, sql } from '../core/sql.ts'
import { catalogKey, readEngineCatalog } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { numberOf, type Row } from '../duckdb/values.ts'
import { STATE_SCHEMA } from '../store/state.ts'
import type { Store } from '../store/store.ts'
import {
  isOfModel,
  recordedNames,
  type RecordedName,
  recordedRenamings,
} from './rename/recorded-names.ts'

const RESULT = sql`'[{"model":"VARCHAR","status":"VARCHAR","because":"VARCHAR","rows":"BIGINT","ms":"BIGINT",
  "changes":{"way":"VARCHAR","rows_in":"BIGINT","rows_changed":"BIGINT","rows_out":"BIGINT","rows_after":"BIGINT","definition":"VARCHAR"}}]'`

/** What one run has done to a model; named as in JSON. Numbers are null where nobody has counted. */
export interface ModelRun extends Omit<TableChanges, 'way' | 'definition'> {
  readonly run_id: string
  readonly started_at: string
  readonly status: string
  readonly rows: number | null
  readonly ms: number | null
  readonly because: string
  readonly way: ChangeWay | null
  /** The definition of the model at that time. */
  readonly rule: string | null
}

interface Recorded {
  readonly connection: Connection
  readonly store: Pick<Store, 'state'>
}

/** Newest first. */
export async function runHistory(
  { connection, store }: Recorded,
  limit: number,
): Promise<readonly Row[]> {
  if (!(await hasHistory(connection))) return []
  const runs = await store.state.allRuns()
  const countOf = (status: string) =>
    sql`len(list_filter(results, lambda r: r.status = ${sql.value(status)}))::INTEGER`
  return connection.rows(sql`
    SELECT run_id, strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') AS started_at,
      date_diff('millisecond', started_at, finished_at)::INTEGER AS ms, ok,
      ${countOf('built')} AS built, ${countOf('unchanged')} AS unchanged,
      ${countOf('failed')} AS failed, ${countOf('skipped')} AS skipped
    FROM (
      SELECT *, from_json(summary->'models', ${RESULT}) AS results
      FROM (${newest(runs, limit)})) AS run
    ORDER BY run.started_at DESC, run.finished_at DESC`)
}

/**
 * Newest first, also under names that the model had before; runs that were not about it are left out. Names are
 * case-insensitive. One that has become that of another model has what is recorded under it.
 */
export async function modelHistory(
  { connection, store }: Recorded,
  model: string,
  limit: number,
): Promise<readonly ModelRun[]> {
  if (!(await hasHistory(connection))) return []
  const all = await store.state.allRuns()
  const renamings = await recordedRenamings(connection, all)
  const resultsOf = (names: readonly RecordedName[]) =>
    newestResults(connection, all, isOfModel(names), limit)
  const found = await resultsOf(recordedNames(renamings, model))
  return found.length > 0 ? found : resultsOf(recordedNames([], model))
}

async function newestResults(
  connection: Connection,
  all: Sql,
  isAsked: Sql,
  limit: number,
): Promise<readonly ModelRun[]> {
  const resultsIn = (runs: Sql) =>
    connection.rows(sql`
      SELECT run_id, strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') AS started_at, result.status,
        result.rows::DOUBLE AS rows, result.ms::INTEGER AS ms, result.because, changes.way,
        changes.rows_in::DOUBLE AS rows_in, changes.rows_changed::DOUBLE AS rows_changed,
        changes.rows_out::DOUBLE AS rows_out, changes.rows_after::DOUBLE AS rows_after, changes.definition AS rule
      FROM (SELECT *, result.changes AS changes FROM (
        SELECT *, unnest(from_json(summary->'models', ${RESULT})) AS result FROM (${runs}))) AS run
      WHERE ${isAsked}
      ORDER BY run.started_at DESC, run.finished_at DESC LIMIT ${sql.value(limit + 1)}`)
  const recent = await resultsIn(newest(all, (limit + 1) * limits.runsPerModelResult))
  const found = recent.length > limit ? recent : await resultsIn(all)
  return withRowsBefore(found as unknown as readonly ModelRun[]).slice(0, limit)
}

/** What a table that was made anew had before is what the change before it has left. */
const withRowsBefore = (runs: readonly ModelRun[]): readonly ModelRun[] =>
  runs.map((run, i) => {
    if (run.rows_out !== null || run.rows_after === null || run.way === 'publish') return run
    const before = runs.slice(i + 1).find(({ status }) => status === 'built')
    return { ...run, rows_out: before?.rows_after ?? null }
  })

const newest = (runs: Sql, limit: number): Sql =>
  sql`FROM (${runs}) ORDER BY started_at DESC, finished_at DESC LIMIT ${sql.value(limit)}`

async function hasHistory(connection: Connection): Promise<boolean> {
  const { relations } = await readEngineCatalog(connection)
  return relations.has(catalogKey(STATE_SCHEMA, 'runs'))
}

interface RecordedRun {
  /** The id of what was published when it ended; null: it did not get so far, or it is another command, which keeps none. */
  readonly snapshot: string | null
  readonly isCommand: boolean
  readonly finishedAt: Date
}

export async function recordedRun(
  { connection, store }: Recorded,
  runId: string,
): Promise<RecordedRun | null> {
  if (!(await hasHistory(connection))) return null
  const row = await connection.row(sql`
    SELECT summary->'snapshot'->>'id' AS snapshot, summary->>'command' IS NOT NULL AS command, epoch_ms(finished_at)::VARCHAR AS ms
    FROM (${await store.state.allRuns()}) WHERE run_id = ${sql.value(runId)}`)
  if (row === null) return null
  const snapshot = row['snapshot']
  return {
    snapshot: typeof snapshot === 'string' ? snapshot : null,
    isCommand: row['command'] === true,
    finishedAt: new Date(numberOf(row['ms'])),
  }
}

/** By which definition the rows of a table were last changed before a time; null: no run has recorded it. `names`: its own. */
export async function ruleAt(
  { connection, state }: Pick<Store, 'state'> & { readonly connection: Connection },
  names: readonly RecordedName[],
  time: Date,
): Promise<string | null> {
  const row = await connection.row(sql`
    SELECT arg_max(result.changes.definition, started_at) AS definition FROM (
      SELECT started_at, unnest(from_json(summary->'models', ${RESULT})) AS result
      FROM (${await state.allRuns()}) WHERE started_at <= ${sql.value(time.toISOString())}::TIMESTAMPTZ)
    WHERE (${isOfModel(names)}) AND result.changes.definition IS NOT NULL`)
  const definition = row?.['definition']
  return typeof definition === 'string' ? definition : null
}
