// The results of the last limits.copiedRuns runs, `.eider/last/runs/<run id>.json`, for readers while a run holds the
// warehouse (last-state.ts).

import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../core/limits.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'

/** `stateDir`: `.eider`, or that of the target. */
export const lastDirectory = (stateDir: string): string => join(stateDir, 'last')

export const lastStateFile = (stateDir: string): string =>
  join(lastDirectory(stateDir), 'state.json')

export const runCopies = (stateDir: string): string => join(lastDirectory(stateDir), 'runs')

/** Not synced: one that a power cut leaves half-written is not read. */
export async function copyRun(stateDir: string, runId: string, results: string): Promise<void> {
  const dir = runCopies(stateDir)
  await mkdir(dir, { recursive: true })
  const path = join(dir, copyOf(runId))
  await writeFile(`${path}.tmp`, results)
  await rename(`${path}.tmp`, path)
}

/** Deletes those that are too many, and returns the names of all that were there. */
export async function dropOldCopies(stateDir: string): Promise<readonly string[]> {
  const dir = runCopies(stateDir)
  const names = await copiesIn(dir)
  for (const name of names.slice(0, -limits.copiedRuns)) await rm(join(dir, name), { force: true })
  return names
}

export const copyOf = (runId: string): string => `${runId}.json`

/** Of the runs that have copies, newest first. */
export async function idsOfCopied(connection: Connection): Promise<readonly string[]> {
  const rows = await connection.rows(sql`
    SELECT run_id FROM _eider.runs
    ORDER BY started_at DESC, finished_at DESC LIMIT ${sql.value(limits.copiedRuns)}`)
  return rows.map((row) => textOf(row['run_id']))
}

/** Oldest first: the id of a run begins with its time. */
export async function copiesIn(dir: string): Promise<readonly string[]> {
  const names = await readdir(dir).catch(() => [])
  return names.filter((name) => name.endsWith('.json')).toSorted()
}
