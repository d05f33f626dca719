// Results of runs outside of the warehouse, each in JSON as target/run_results.json has them. `stateDir` is `.eider`, or
// that of the target:
//
//   last/runs/<run id>.json   of the last limits.copiedRuns runs, for readers while a run holds the warehouse
//                             (last-state.ts)
//   idle-runs.ndjson          a line for each run that found nothing to do and did not open the warehouse, until the next
//                             command that changes the warehouse records it there. Written and taken under the run lock.
//                             A crash may leave a last line that is cut, which is a run that did not end; or runs that
//                             are recorded already, which their ids tell

import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readTextIfThere } from '../../files/read-file.ts'
import { limits } from '../../core/limits.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'

export const lastStateFile = (stateDir: string): string => join(stateDir, 'last', 'state.json')
export const runCopies = (stateDir: string): string => join(stateDir, 'last', 'runs')
const waitingFile = (stateDir: string): string => join(stateDir, 'idle-runs.ndjson')

export const copyOf = (runId: string): string => `${runId}.json`

/** Oldest first: the id of a run begins with its time. */
export async function copiesIn(dir: string): Promise<readonly string[]> {
  const names = await readdir(dir).catch(() => [])
  return names.filter((name) => name.endsWith('.json')).toSorted()
}

/** Deletes those that are too many. Not synced: one that a power cut leaves half-written is not read. */
export async function copyRun(stateDir: string, runId: string, results: string): Promise<void> {
  const dir = runCopies(stateDir)
  await mkdir(dir, { recursive: true })
  const path = join(dir, copyOf(runId))
  await writeFile(`${path}.tmp`, results)
  await rename(`${path}.tmp`, path)
  const old = (await copiesIn(dir)).slice(0, -limits.copiedRuns)
  for (const name of old) await rm(join(dir, name), { force: true })
}

/** On disk when it resolves. */
export async function addWaitingRun(stateDir: string, results: string): Promise<void> {
  await using file = await open(waitingFile(stateDir), 'a')
  await file.appendFile(`\n${results}\n`) // the line before may be cut
  await file.sync()
}

/** Oldest first. */
export async function readWaitingRuns(stateDir: string): Promise<readonly string[]> {
  const text = (await readTextIfThere(waitingFile(stateDir))) ?? ''
  return text.split('\n').filter(isWhole)
}

function isWhole(line: string): boolean {
  try {
    return line !== '' && JSON.parse(line) !== null
  } catch {
    return false
  }
}

/** A query with the columns of `_eider.runs`. */
export async function allRuns(stateDir: string): Promise<Sql> {
  const waiting = await readWaitingRuns(stateDir)
  return waiting.length === 0
    ? sql`FROM _eider.runs`
    : sql`FROM _eider.runs UNION ALL BY NAME ${notRecorded(waiting)}`
}

/** In the first change of the warehouse after them. */
export async function recordWaitingRuns(connection: Connection, stateDir: string): Promise<void> {
  const runs = await readWaitingRuns(stateDir)
  if (runs.length > 0)
    await connection.run(sql`INSERT INTO _eider.runs BY NAME ${notRecorded(runs)}`)
  await rm(waitingFile(stateDir), { force: true })
}

const notRecorded = (runs: readonly string[]): Sql => sql`
  SELECT * FROM (${rowsOf(runs)}) AS waiting
  WHERE run_id NOT IN (SELECT run_id FROM _eider.runs)`

/** Results as rows of `_eider.runs`. */
export const rowsOf = (runs: readonly string[]): Sql => sql`
  SELECT run->>'run_id' AS run_id, started_at,
    started_at + to_milliseconds((run->>'ms')::DOUBLE) AS finished_at, (run->>'ok')::BOOLEAN AS ok,
    run AS summary
  FROM (SELECT run, (run->>'started_at')::TIMESTAMPTZ AS started_at
    FROM (SELECT unnest([${sql.values(runs)}])::JSON AS run))`
