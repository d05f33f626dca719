// What commands other than a run have done to tables, kept among the runs, so that a table has one history.

import type { ModelRecord } from '../store/state.ts'
import type { ChangeWay, ModelResult, TableChanges } from '../core/report/progress.ts'
import type { ModelName } from '../core/names.ts'
import { sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import { describeResults } from './artifacts.ts'
import { countRows } from './build/materialize/relation.ts'

interface Work {
  readonly command: 'erase' | 'mv' | 'publish' | 'restore'
  readonly runId: string
  readonly startedAt: Date
  readonly models: readonly (ModelResult | Renamed)[]
}

/** Of `eider mv`: its rows are those of before. */
export interface Renamed extends ModelResult {
  readonly renamed_from: ModelName
}

/** Call this in the transaction that changes the tables. */
export async function recordWork(connection: Connection, work: Work): Promise<void> {
  const { command, runId, startedAt, models } = work
  const now = new Date()
  const ms = Math.max(0, now.getTime() - startedAt.getTime())
  const nothing = { flushed: [], snapshot: null, orphans: [], byHand: [] }
  const run = { runId, startedAt, ms, ok: true, models, ...nothing }
  const text = JSON.stringify({ ...describeResults(run), command })
  await connection.run(sql`
    INSERT INTO _eider.runs (run_id, started_at, finished_at, ok, summary)
    VALUES (${sql.value(runId)}, ${sql.value(startedAt.toISOString())}, ${sql.value(now.toISOString())},
      true, ${sql.value(text)})`)
}

/** In the transaction that has changed the table. */
export async function workOn(
  connection: Connection,
  model: ModelName,
  { definition }: Pick<ModelRecord, 'definition'>,
  { way, because, warnings = [], ...counts }: WorkOnTable,
): Promise<ModelResult> {
  const after = await countRows(connection, sql.relation(model))
  const none = { rows_in: null, rows_changed: null, rows_out: null }
  const changes = { way, ...none, ...counts, rows_after: after, definition }
  const said = warnings.length === 0 ? {} : { warnings }
  return { model, status: 'built', because, rows: after, ...said, changes, ms: 0 }
}

interface WorkOnTable extends Partial<Pick<TableChanges, 'rows_in' | 'rows_changed' | 'rows_out'>> {
  readonly way: ChangeWay
  readonly because: string
  readonly warnings?: readonly string[]
}
