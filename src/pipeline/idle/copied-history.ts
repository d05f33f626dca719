// What earlier runs did, as history.ts tells it from the warehouse, from the copies that runs leave for readers
// (run-copies.ts). For a warehouse that is as it was when its runs were noted.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../core/limits.ts'
import { foldCase } from '../../core/names.ts'
import { copyOf, runCopies } from '../../store/files/run-copies.ts'
import { readWaitingRuns } from '../../store/files/waiting-runs.ts'
import { numbersOf, type Results } from '../catalog/past-runs.ts'

/** As runHistory(); null: the copies do not have it. `recorded`: runs of the warehouse, newest first. */
export async function copiedRuns(stateDir: string, recorded: readonly string[], limit: number) {
  const runs: object[] = []
  for await (const run of newestFirst(stateDir, recorded)) {
    if (run === null) return null
    const { run_id, ms, ok, built, unchanged, failed, skipped } = numbersOf(run)
    const started_at = secondsOf(run)
    runs.push({ run_id, started_at, ms, ok, built, unchanged, failed, skipped })
    if (runs.length === limit) break
  }
  return runs
}

/** As modelHistory(). */
export async function copiedModelRuns(
  stateDir: string,
  recorded: readonly string[],
  { model, limit }: { readonly model: string; readonly limit: number },
) {
  const found: object[] = []
  for await (const run of newestFirst(stateDir, recorded)) {
    if (run === null) return null
    const result = run.models.find((one) => foldCase(one.model) === foldCase(model))
    if (result === undefined) continue
    const { status, rows = null, ms, because } = result
    found.push({ run_id: run.run_id, started_at: secondsOf(run), status, rows, ms, because })
    if (found.length === limit) break
  }
  return found
}

/** Ends with null where earlier runs, or the next one, can be read in the warehouse alone. */
async function* newestFirst(
  stateDir: string,
  recorded: readonly string[],
): AsyncGenerator<Results | null> {
  const waiting = (await readWaitingRuns(stateDir)).map((text) => JSON.parse(text) as Results)
  const known = new Set(recorded)
  // A crash may leave runs that are recorded already.
  const later = waiting.filter((run) => !known.has(run.run_id)).toReversed()
  for (let i = 0; i < later.length; i++) {
    // Clocks may go back.
    const next = later[i + 1]
    if (next !== undefined && next.started_at >= later[i]!.started_at) return yield null
  }
  let before = later.at(-1)?.started_at ?? null
  yield* later
  for (const id of recorded) {
    const run = await readCopy(stateDir, id)
    if (run === null || (before !== null && run.started_at >= before)) return yield null
    before = run.started_at
    yield run
  }
  if (recorded.length >= limits.copiedRuns) yield null
}

async function readCopy(stateDir: string, id: string): Promise<Results | null> {
  try {
    const text = await readFile(join(runCopies(stateDir), copyOf(id)), 'utf8')
    const run = JSON.parse(text) as Results
    return run.run_id === id ? run : null
  } catch {
    return null
  }
}

const secondsOf = ({ started_at: at }: Results): string => `${at.slice(0, 19)}Z`
