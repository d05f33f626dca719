// What earlier runs did, from `_eider.runs`: each row has the results of its run as JSON (docs/schemas/run_results.json).

import { limits } from '../core/limits.ts'
import { type Sql, sql } from '../core/sql.ts'
import { catalogKey, readEngineCatalog } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { numberOf, type Row } from '../duckdb/values.ts'
import { STATE_SCHEMA } from '../store/state.ts'
import type { Store } from '../store/store.ts'

const RESULT = sql`'[{"model":"VARCHAR","status":"VARCHAR","because":"VARCHAR","rows":"BIGINT","ms":"BIGINT"}]'`

interface Recorded {
  readonly connection: Connection
  readonly store: Store
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

/** Newest first; runs that were not about the model are left out. Names are case-insensitive. */
export async function modelHistory(
  { connection, store }: Recorded,
  model: string,
  limit: number,
): Promise<readonly Row[]> {
  if (!(await hasHistory(connection))) return []
  const all = await store.state.allRuns()
  const resultsIn = (runs: Sql) =>
    connection.rows(sql`
      SELECT run_id, strftime(started_at, '%Y-%m-%dT%H:%M:%SZ') AS started_at, result.status,
        result.rows::DOUBLE AS rows, result.ms::INTEGER AS ms, result.because
      FROM (SELECT *, unnest(from_json(summary->'models', ${RESULT})) AS result FROM (${runs})) AS run
      WHERE lower(result.model) = lower(${sql.value(model)})
      ORDER BY run.started_at DESC, run.finished_at DESC LIMIT ${sql.value(limit)}`)
  const recent = await resultsIn(newest(all, limit * limits.runsPerModelResult))
  return recent.length === limit ? recent : await resultsIn(all)
}

const newest = (runs: Sql, limit: number): Sql =>
  sql`FROM (${runs}) ORDER BY started_at DESC, finished_at DESC LIMIT ${sql.value(limit)}`

async function hasHistory(connection: Connection): Promise<boolean> {
  const { relations } = await readEngineCatalog(connection)
  return relations.has(catalogKey(STATE_SCHEMA, 'runs'))
}

/** `snapshot`: the id of what was published when it ended; null: it did not get so far. null: no such run is recorded. */
export async function recordedRun(
  { connection, store }: Recorded,
  runId: string,
): Promise<{ readonly snapshot: string | null; readonly finishedAt: Date } | null> {
  if (!(await hasHistory(connection))) return null
  const row = await connection.row(sql`
    SELECT summary->'snapshot'->>'id' AS snapshot, epoch_ms(finished_at)::VARCHAR AS ms
    FROM (${await store.state.allRuns()}) WHERE run_id = ${sql.value(runId)}`)
  if (row === null) return null
  const snapshot = row['snapshot']
  return {
    snapshot: typeof snapshot === 'string' ? snapshot : null,
    finishedAt: new Date(numberOf(row['ms'])),
  }
}
