// Records in a lake that nobody needs any more. A DELETE would refuse everybody who inserts meanwhile, so only
// `eider maintain` deletes them, when no run is under way.

import { limits } from '../../core/limits.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf, textOf } from '../../duckdb/values.ts'
import { ChangeTables } from '../changes.ts'
import { STATE_SCHEMA } from '../state.ts'
import { readLakeCatalog } from './catalog.ts'
import { retried } from './retried.ts'

/** `cutoff`: openings that were flushed later are kept, however many. Returns the rows deleted. */
export async function dropRecords(connection: Connection, cutoff: Sql): Promise<number> {
  let deleted = 0
  const openings = await oldOpenings(connection, cutoff)
  for (const statement of [oldRuns, oldBuilds, ...openings])
    deleted += await retried(() => connection.run(statement))
  const changes = new ChangeTables({ deletes: true })
  await changes.read(connection, await readLakeCatalog(connection))
  return deleted + (await retried(() => connection.transact(() => changes.prune(connection))))
}

const oldRuns = sql`
  DELETE FROM _eider.runs WHERE started_at < (
    SELECT started_at FROM _eider.runs ORDER BY started_at DESC LIMIT 1 OFFSET ${sql.value(limits.keptRuns)})`

/**
 * Builds that others of the same model have followed, and marks of runs that have ended. The last row of all stays: the
 * next run counts on from it.
 */
const oldBuilds = sql`
  DELETE FROM _eider.builds WHERE seq IN (
    SELECT seq FROM (
      SELECT seq, model, run_id, max(seq) OVER () AS last,
        max(seq) OVER (PARTITION BY lower(model), CASE WHEN model = '' THEN run_id END) AS last_of_model,
        bool_or(definition = 'ended') OVER (PARTITION BY model, run_id) AS ended
      FROM _eider.builds)
    WHERE seq < last AND (seq < last_of_model OR model = '' AND ended))`

/** For each target, the openings that were flushed last are kept, and the sentinel. */
async function oldOpenings(connection: Connection, cutoff: Sql): Promise<readonly Sql[]> {
  const fences = await connection.rows(sql`
    SELECT table_name AS name FROM duckdb_tables()
    WHERE database_name = current_database() AND schema_name = ${sql.value(STATE_SCHEMA)}
      AND starts_with(table_name, 'flushed ')`)
  const statements: Sql[] = []
  for (const { name } of fences) {
    const fence = sql.ident(STATE_SCHEMA, textOf(name))
    const row = await connection.row(sql`SELECT count(*) AS n FROM ${fence}`)
    if (numberOf(row?.['n']) <= limits.keptOpenings + 1) continue
    statements.push(sql`
      DELETE FROM ${fence} WHERE opening <> 0 AND flushed_at < ${cutoff} AND flushed_at < (
        SELECT flushed_at FROM ${fence} WHERE opening <> 0
        ORDER BY flushed_at DESC LIMIT 1 OFFSET ${sql.value(limits.keptOpenings - 1)})`)
  }
  return statements
}
