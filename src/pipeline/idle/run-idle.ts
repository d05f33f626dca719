// A run with nothing to do, without the engine: what the last one noted is as it was (note.ts), and no events wait. It
// leaves what a run with the engine leaves: a record, artifacts, the catalog. Where anything is in doubt or fails before it
// is recorded, nothing is announced, and the run goes the long way.

import { existsSync } from 'node:fs'
import type { ClaimSource } from '../../buffer/claim-source.ts'
import { limits } from '../../core/limits.ts'
import type { Logger } from '../../core/logger.ts'
import type { CompiledProject } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import type { Progress, RunEvent } from '../../core/report/progress.ts'
import type { RunSummary } from '../../core/report/run-summary.ts'
import { fileLease } from '../../store/files/lease.ts'
import { copyRun, dropOldCopies } from '../../store/files/run-copies.ts'
import {
  readCatalog,
  readCurrentSnapshot,
  writeCatalog,
} from '../../store/files/snapshot-directory.ts'
import { addWaitingRun, readWaitingRuns } from '../../store/files/waiting-runs.ts'
import { describeResults, writeArtifacts } from '../artifacts.ts'
import { identityOf, pastRunsOf, printCatalog } from '../catalog/catalog-text.ts'
import { type PastRuns, withRuns } from '../catalog/past-runs.ts'
import { RunResults } from '../results.ts'
import { type IdleNote, type IdleScope, isSame } from './note.ts'

export interface IdleRun {
  readonly scope: IdleScope
  readonly project: CompiledProject
  /** Whether events wait in the buffer, for any model or none. */
  readonly hasWaitingEvents: () => Promise<boolean>
  /** As in RunOptions. */
  readonly openClaims: () => Promise<ClaimSource>
  readonly signal: AbortSignal
  readonly progress: Progress
  readonly logger: Logger
}

/** null: nothing was recorded or announced, and there may be something to do. */
export async function runIdle(note: IdleNote, run: IdleRun): Promise<RunSummary | null> {
  const events: RunEvent[] = []
  const summary = await finishIdle(note, run, (event) => events.push(event)).catch(() => null)
  if (summary !== null) for (const event of events) run.progress(event)
  return summary
}

async function finishIdle(
  note: IdleNote,
  run: IdleRun,
  progress: Progress,
): Promise<RunSummary | null> {
  const { scope, project, signal } = run
  const results = new RunResults(new Date(), progress)
  if (!(await isSame(note, scope, project))) return null
  await using _lease = await fileLease(scope.paths.runLock).take({ waitMs: 0, signal })
  if (!(await isSame(note, scope, project)) || !(await isFlushed(run))) return null
  const waiting = await readWaitingRuns(scope.paths.state)
  if (waiting.length >= limits.waitingRuns) return null
  const last = waiting.length === 0 ? note.run : runIdOf(waiting.at(-1)!)
  const catalog = await readCatalog(scope.paths.snapshots, note.snapshot)
  // One that has missed a run takes it from the warehouse.
  const before = catalog === null ? null : pastRunsOf(catalog)
  if (catalog === null || before?.runs[0]?.run_id !== last) return null
  signal.throwIfAborted()
  const { summary, described } = await record(note, run, results, progress)
  // From here on the run has taken place.
  await copyForReaders(scope, summary.runId, JSON.stringify(described))
  try {
    await addToCatalog(
      run,
      catalog,
      withRuns(before, [described], new Set(run.project.models.keys())),
    )
  } catch (error) {
    run.logger.warn('catalog-not-written', { error: String(error) })
  }
  return summary
}

const runIdOf = (results: string) => (JSON.parse(results) as { run_id: string }).run_id

async function record(
  note: IdleNote,
  { scope, project }: IdleRun,
  results: RunResults,
  progress: Progress,
) {
  const { runId } = results
  progress({ event: 'run-started', run_id: runId, models: note.models.length })
  results.selected = new Set(note.models.map(({ model }) => model))
  for (const model of note.models) results.finish({ ...model, ms: 0 })
  results.snapshot = { id: note.snapshot, changed: false }
  results.orphans = note.orphans
  const summary = results.summarize()
  const described = describeResults(summary)
  const hashes = new Map(note.files.map(([name, , hash]) => [name, hash]))
  await writeArtifacts(scope.paths.target, project, summary, hashes)
  await addWaitingRun(scope.paths.state, JSON.stringify(described))
  progress({ event: 'run-finished', run_id: runId, ok: summary.ok, ms: summary.ms })
  return { summary, described }
}

/** The next run makes up for what this one cannot write. */
async function copyForReaders({ paths: { state } }: IdleScope, runId: string, results: string) {
  try {
    await dropOldCopies(state)
    await copyRun(state, runId, results)
  } catch {}
}

async function addToCatalog({ scope, project }: IdleRun, before: string, runs: PastRuns) {
  const { snapshots } = scope.paths
  const snapshot = await readCurrentSnapshot(snapshots)
  if (snapshot === null) throw new Error('the manifest is gone')
  const identity = identityOf(project)
  await writeCatalog(
    snapshots,
    snapshot.id,
    printCatalog(project, snapshot, runs, { identity, before }),
  )
}

/** A buffer that cannot be opened is refused as in any run, which says so. */
async function isFlushed({ scope, project, hasWaitingEvents, openClaims }: IdleRun) {
  if (await hasWaitingEvents()) return false
  const collected = [...project.models.values()].filter(({ kind }) => kind === 'events')
  if (collected.length === 0 && !existsSync(scope.paths.buffer)) return true
  await using claims = await openClaims()
  const targets = await claims.targets()
  return targets.every((target) => collected.some(({ name }) => sameName(name, target)))
}
