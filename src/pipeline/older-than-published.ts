// A warehouse that was restored from a backup, while the published states stayed: what has happened since then is gone from
// the tables, and a run would publish them without a word.

import type { Logger } from '../core/logger.ts'
import { sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import { textOf } from '../duckdb/values.ts'
import type { Store } from '../store/store.ts'

/**
 * Before a run records itself, or for a plan of one. A run that was killed between its publication and its record looks
 * the same, once.
 */
export async function warnIfOlder(
  connection: Connection,
  { state, snapshots, openPuller }: Pick<Store, 'state' | 'snapshots' | 'openPuller'>,
  logger: Logger,
): Promise<void> {
  // A published state of a lake is in its catalog, and goes back with it.
  if (openPuller !== null) return
  const published = await snapshots.current()
  if (published === null) return
  const row = await connection.row(sql`SELECT max(run_id) AS last FROM (${await state.allRuns()})`)
  // The ids of runs begin with their times; those that are no longer recorded are older than those that are.
  // A warehouse that was deleted builds everything for the first time, and says so.
  if (row?.['last'] == null) return
  const last = textOf(row['last'])
  if (published.runId <= last) return
  logger.warn('warehouse-older-than-published', {
    published_run: published.runId,
    newest_run: last,
    problem:
      'the warehouse does not know the run that published last: it was restored from a backup, or the run was killed just then',
    hint: 'if it was restored, events that were flushed after its newest run are not in it: have them sent again, or stop and restore the warehouse of that run',
  })
}
