// Whether a run that finds nothing to do may note it for the next one (idle/note.ts).

import type { CompiledProject } from '../core/model.ts'
import type { ModelResult } from '../core/report/progress.ts'
import type { RunSummary } from '../core/report/run-summary.ts'
import { sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import { idsOfCopied } from '../store/files/run-copies.ts'
import type { Published } from '../store/snapshots.ts'
import { draftIdleNote, type Found, type IdleDraft, type IdleScope } from './idle/note.ts'
import { whyUnchanged } from './plan/decide.ts'
import { isAboutAll, type RunRequest } from './read-context.ts'

/** null: the run is not about all that a run without arguments is about. */
export function draftOf(request: RunRequest, idle: IdleScope | null): IdleDraft | null {
  const { project, fullRefresh, range = null, lender, sample, isCopy } = request
  const isWhole = isAboutAll(request) && range === null && fullRefresh !== true && isCopy !== true
  const isOwn = lender === undefined && sample === undefined
  return idle !== null && isWhole && isOwn ? draftIdleNote(idle, project) : null
}

/** What the next run will find; null: it may have something to do. */
export async function foundOf(
  { runId: run, ok, flushed, models, orphans }: RunSummary,
  { snapshot, changed }: Published,
  project: CompiledProject,
  connection: Connection,
): Promise<Found | null> {
  if (!ok || flushed.length > 0 || (await hasAcks(connection))) return null
  return {
    run,
    models: models.map((result) => unchanged(result, project)),
    snapshot: snapshot.id,
    // What has the same SQL is no new model any more.
    orphans: orphans.map(({ model, kind, rows }) => ({ model, kind, rows })),
    recorded: await idsOfCopied(connection),
    isPublished: changed,
  }
}

const unchanged = (result: ModelResult, { models }: CompiledProject): ModelResult =>
  result.status === 'unchanged'
    ? result
    : {
        model: result.model,
        status: 'unchanged',
        because: whyUnchanged(models.get(result.model)!),
        ms: 0,
      }

/** Whether a claim is committed that its buffer may not know of. */
const hasAcks = async (connection: Connection): Promise<boolean> =>
  (await connection.row(sql`SELECT 1 FROM _eider.acks LIMIT 1`)) !== null
