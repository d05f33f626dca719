// Whether a run that finds nothing to do may note it for the next one (idle/note.ts).

import { limits } from '../core/limits.ts'
import { sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import { textOf } from '../duckdb/values.ts'
import { draftIdleNote, type IdleDraft, type IdleScope } from './idle/note.ts'
import { isAboutAll, type RunRequest } from './read-context.ts'

/** null: the run is not about all that a run without arguments is about. */
export function draftOf(request: RunRequest, idle: IdleScope | null): IdleDraft | null {
  const { project, fullRefresh, range = null, lender, sample, isCopy } = request
  const isWhole = isAboutAll(request) && range === null && fullRefresh !== true && isCopy !== true
  const isOwn = lender === undefined && sample === undefined
  return idle !== null && isWhole && isOwn ? draftIdleNote(idle, project) : null
}

/** Whether a claim is committed that its buffer may not know of. */
export const hasAcks = async (connection: Connection): Promise<boolean> =>
  (await connection.row(sql`SELECT 1 FROM _eider.acks LIMIT 1`)) !== null

/** Those of which readers have copies, newest first. */
export async function recordedRuns(connection: Connection): Promise<readonly string[]> {
  const rows = await connection.rows(sql`
    SELECT run_id FROM _eider.runs
    ORDER BY started_at DESC, finished_at DESC LIMIT ${sql.value(limits.copiedRuns)}`)
  return rows.map((row) => textOf(row['run_id']))
}
