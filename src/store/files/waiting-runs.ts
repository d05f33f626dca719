// Runs that found nothing to do and did not open the warehouse: their results wait in `.eider/idle-runs.ndjson`, a line of
// JSON each as in target/run_results.json, until the next command that changes the warehouse records them there. Written
// and taken under the run lock. A crash may leave a last line that is cut, which is a run that did not end; or runs that
// are recorded already, which their ids tell.

import { open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'

const pathOf = (stateDir: string): string => join(stateDir, 'idle-runs.ndjson')

/** On disk when it resolves. */
export async function addWaitingRun(stateDir: string, results: string): Promise<void> {
  await using file = await open(pathOf(stateDir), 'a')
  await file.appendFile(`\n${results}\n`) // the line before may be cut
  await file.sync()
}

/** Oldest first. */
export async function readWaitingRuns(stateDir: string): Promise<readonly string[]> {
  const text = await readFile(pathOf(stateDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
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
    await connection.run(sql`
      INSERT INTO _eider.runs BY NAME ${notRecorded(runs)}`)
  await rm(pathOf(stateDir), { force: true })
}

const notRecorded = (runs: readonly string[]): Sql => sql`
  SELECT * FROM (${rowsOf(runs)}) AS waiting
  WHERE run_id NOT IN (SELECT run_id FROM _eider.runs)`

const rowsOf = (runs: readonly string[]): Sql => sql`
  SELECT run->>'run_id' AS run_id, started_at,
    started_at + to_milliseconds((run->>'ms')::DOUBLE) AS finished_at, (run->>'ok')::BOOLEAN AS ok,
    run AS summary
  FROM (SELECT run, (run->>'started_at')::TIMESTAMPTZ AS started_at
    FROM (SELECT unnest([${sql.join(runs.map((run) => sql.value(run)))}])::JSON AS run))`
