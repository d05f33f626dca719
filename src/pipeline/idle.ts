// A run with nothing to do, without the engine. A run notes what it has left, or seen when it found nothing to do; where
// the next one finds all of it as it was, and no events wait, it leaves what a run with the engine leaves: a record,
// artifacts, the catalog. Where anything is in doubt or fails before it is recorded, nothing is announced, and the run goes
// the long way.
//
// `.eider/idle.json` is an object with a key of all that such a run depends on. Every doubt is another key, or no note:
//
//   texts of the project, variables, settings, eider   by content, in the identity of the compiled project
//   data files that models read                        by stamp, if by the time of the run they had been left alone for
//                                                      limits.racyMs; none whose name is a URL
//   the warehouse and its log                          by stamp, taken while the engine still had its lock on them
//   published files and manifests                      by stamp, when none of them can become too old
//
//   the day, where models select by it                 as of the begin of the run
//
// There is no note of a project with sources, models that each run builds (plan/volatile.ts) or extensions, and none of a
// lake.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readTextLater } from '../files/read-file.ts'
import { hashOf } from '../core/hash.ts'
import { limits } from '../core/limits.ts'
import { keepPeriod } from '../core/retention.ts'
import { knownModels, select } from '../compiler/select.ts'
import type { CompiledProject } from '../core/model.ts'
import { sameName } from '../core/names.ts'
import type { ProjectPaths } from '../core/project.ts'
import type { ModelResult, Orphan, RunEvent, RunSummary } from '../core/report/progress.ts'
import { sql } from '../core/sql.ts'
import { olderLine } from '../core/step.ts'
import { bindingsVersion } from '../duckdb/bindings-version.ts'
import type { Connection } from '../duckdb/database.ts'
import { replaceDurably } from '../files/durable-files.ts'
import { buildStamp } from '../files/package.ts'
import { stampOfName } from '../files/stamps.ts'
import type { Stamp } from '../files/stamps.ts'
import type { Retention } from '../store/snapshots.ts'
import type { IdleTarget } from '../store/traits.ts'
import { describeResults, writeArtifacts } from './artifacts.ts'
import { pastRunsOf, catalogRun } from './catalog/catalog-text.ts'
import { type Results, withRuns } from './catalog/past-runs.ts'
import type { RunWithoutEngine } from './prepared-run.ts'
import { type LastingFailure, lastingFailures } from './lasting-failures.ts'
import { dayIn, rebuiltAgain } from './plan/volatile.ts'
import { isRecorded } from './rename/record.ts'
import { allModels, isAboutAll } from './run-request.ts'
import { type NoteDraft, RunResults, whyUnchanged } from './results.ts'

const FORMAT = 3

export interface IdleNote {
  readonly format: number
  readonly key: string
  readonly run: string
  readonly models: readonly ModelResult[]
  /** Those among `models` that the next run would find as they are. */
  readonly failures: readonly LastingFailure[]
  readonly snapshot: string
  readonly orphans: readonly Orphan[]
  /** Data files that models read, and patterns of such: name, stamp, hash of the content. */
  readonly files: readonly (readonly [name: string, stamp: string, hash: string])[]
}

/** What a run is asked to do, as far as settings and the target say so. */
export interface IdleScope {
  readonly target: IdleTarget
  readonly paths: ProjectPaths
  readonly retention: Retention
  /** Whether a failed check leaves rows in a file, which somebody may have deleted. */
  readonly keepsFailingRows: boolean
  /** Identifies all settings in force. */
  readonly settings: string
}

const pathOf = ({ state }: ProjectPaths): string => join(state, 'idle.json')

export class Idle {
  readonly #scope: IdleScope
  readonly note: IdleNote | null

  private constructor(scope: IdleScope, note: IdleNote | null) {
    this.#scope = scope
    this.note = note
  }

  static async open(scope: IdleScope): Promise<Idle> {
    return new Idle(scope, await readNote(scope))
  }

  /** Hashes of the data files that are as they were. */
  get knownHashes(): ReadonlyMap<string, string> {
    const { dir } = this.#scope.paths
    const isSameFile = ([name, stamp]: readonly [string, string, string]) =>
      stampOfName(dir, name)?.text === stamp
    const files = this.note?.files.filter(isSameFile) ?? []
    return new Map(files.map(([name, , hash]) => [name, hash]))
  }

  /** Whether all is as it was noted, and no run is at work. Events that wait are another matter. */
  async isUnchanged(project: CompiledProject): Promise<boolean> {
    if (this.note === null || (await this.#scope.target.lease.holder()) !== null) return false
    return isSame(this.note, this.#scope, project)
  }

  /** null: nothing was recorded or announced, and there may be something to do. */
  async run(run: RunWithoutEngine): Promise<RunSummary | null> {
    const { note } = this
    if (note === null || !isAskedAgain(note, run)) return null
    const events: RunEvent[] = []
    const progress = (event: RunEvent) => events.push(event)
    const summary = await finish(note, this.#scope, { ...run, progress }).catch(() => null)
    if (summary !== null) for (const event of events) run.progress(event)
    return summary
  }

  /** For the run that has something to do: what the next one will find. */
  draft(project: CompiledProject): NoteDraft | null {
    return draftNote(this.#scope, project)
  }
}

/** Whether the run would end as the noted one, also where that has left something: flags may help. */
const isAskedAgain = ({ failures }: IdleNote, run: RunWithoutEngine): boolean =>
  failures.length === 0 ||
  (isAboutAll(run) && !run.failFast && !run.allowEmpty && !run.allowRemoval)

/** null: there is none, or it cannot be read. */
async function readNote({ paths }: IdleScope): Promise<IdleNote | null> {
  try {
    const note = JSON.parse(await readTextLater(pathOf(paths))) as IdleNote
    return note.format === FORMAT ? note : null
  } catch {
    return null
  }
}

/** Where something depends on it, call it again under the run lock. */
async function isSame(
  { key }: IdleNote,
  scope: IdleScope,
  project: CompiledProject,
): Promise<boolean> {
  const files = stampFiles(scope, project)
  const target = await stampTarget(scope)
  return (
    files !== null &&
    target !== null &&
    keyOf(scope, project, files, { target: target.text, period: periodOf(project, new Date()) }) ===
      key
  )
}

const stampTarget = async ({ target, paths, retention }: IdleScope) =>
  isRecorded(paths) ? null : target.stamp(retention)

/** null: a model reads what no stamp tells of. */
function stampFiles(
  { paths }: IdleScope,
  { models, external, identity }: CompiledProject,
): readonly Stamp[] | null {
  const all = [...models.values()]
  if (identity === undefined || external !== undefined) return null
  if (all.some((model) => rebuiltAgain({ models }, model) === 'always')) return null
  if (all.some(({ kind, files, source }) => kind === 'seed' && !files.includes(source.path)))
    return null
  const stamps = filesOf(all).map((name) => stampOfName(paths.dir, name))
  return stamps.every((stamp) => stamp !== null) ? stamps : null
}

/** The next day there are other rows that are too old, and others that a model selects by the date. */
const periodOf = (project: CompiledProject, time: Date): string =>
  keepPeriod(project.models.values(), time) + dayIn(project, time)

const filesOf = (models: readonly { readonly files: readonly string[] }[]): readonly string[] =>
  [...new Set(models.flatMap(({ files }) => files))].toSorted()

const keyOf = (
  { settings, paths }: IdleScope,
  project: CompiledProject,
  files: readonly Stamp[],
  { target, period }: { readonly target: string; readonly period: string },
): string =>
  hashOf(32, [
    [FORMAT, buildStamp(), bindingsVersion(), process.version],
    [settings, paths],
    project.identity,
    ...(period === '' ? [] : [period]),
    files.map(({ text }) => text),
    target,
  ])

/** Call it before the run reads any data; null: nothing can be noted of this project. */
function draftNote(scope: IdleScope, project: CompiledProject): NoteDraft | null {
  const untouchedSinceMs = Date.now() - limits.racyMs
  const files = stampFiles(scope, project)
  if (files === null || files.some(({ changedMs }) => changedMs > untouchedSinceMs)) return null
  const names = filesOf([...project.models.values()])
  return {
    async hold({ summary, published, fileHashes, failedForRows }, connection, meanwhile) {
      const ofRows = scope.keepsFailingRows ? null : failedForRows
      const failures = summary.ok ? [] : ofRows && lastingFailures(project, summary, ofRows)
      // As the run decided what to build, which was before midnight if the night has passed over it.
      const period = periodOf(project, summary.startedAt)
      const isLeft =
        failures === null ||
        summary.ok !== (failures.length === 0) ||
        summary.flushed.length > 0 ||
        summary.byHand.length > 0 ||
        (await hasAcks(connection))
      // What is written after the engine lets go has a later time.
      await Promise.all([isLeft ? null : sleep(limits.clockTickMs), meanwhile])
      const before = isLeft ? null : await stampTarget(scope)
      return async () => {
        const target = before && (await stampTarget(scope))
        if (target === null || target.text !== before?.text) return
        if (!published.changed && target.publishedMs > untouchedSinceMs) return
        if (!names.every((name) => fileHashes.has(name))) return
        const note: IdleNote = {
          format: FORMAT,
          key: keyOf(scope, project, files, { target: target.text, period }),
          run: summary.runId,
          models: summary.models.map((result) => nextTime(result, project)),
          failures: failures ?? [],
          snapshot: published.snapshot.id,
          // Without `renamed_to`: the model with the same SQL is not new in the next run.
          orphans: summary.orphans.map(({ model, kind, rows }) => ({ model, kind, rows })),
          files: names.map((name, i) => [name, files[i]!.text, fileHashes.get(name)!]),
        }
        await replaceDurably(pathOf(scope.paths), `${JSON.stringify(note)}\n`)
      }
    },
  }
}

const nextTime = (result: ModelResult, { models }: CompiledProject): ModelResult => {
  const { model, status, older_rows: older } = result
  if (status !== 'built') return result
  const because = whyUnchanged(models.get(model)!)
  const warned = older === undefined ? {} : { warnings: [olderLine(older)], older_rows: older }
  return { model, status: 'unchanged', because, ...warned, ms: 0 }
}

/** Whether a claim is committed that its buffer may not know of. */
const hasAcks = async (connection: Connection): Promise<boolean> =>
  (await connection.row(sql`SELECT 1 FROM _eider.acks LIMIT 1`)) !== null

async function finish(
  note: IdleNote,
  scope: IdleScope,
  run: RunWithoutEngine,
): Promise<RunSummary | null> {
  const { project, signal, progress, logger } = run
  const { lease, snapshots } = scope.target
  const results = new RunResults(new Date(), progress)
  if (!(await isSame(note, scope, project))) return null
  await using _lease = await lease.take({ waitMs: 0, signal })
  if (!(await isSame(note, scope, project)) || !(await isFlushed(scope, run))) return null
  const waiting = await scope.target.waitingRuns()
  if (waiting.length >= limits.waitingRuns) return null
  const last = waiting.length === 0 ? note.run : resultsIn(waiting.at(-1)!).run_id
  const catalog = await snapshots.catalog(note.snapshot)
  // One that has missed a run takes it from the warehouse.
  const before = catalog === null ? null : pastRunsOf(catalog)
  const snapshot = await snapshots.current()
  if (before?.runs[0]?.run_id !== last || snapshot === null) return null
  signal.throwIfAborted()
  const { summary, described } = await record(note, scope, run, results)
  // From here on the run has taken place.
  await catalogRun({
    snapshots,
    project,
    published: { snapshot, before: snapshot, changed: false },
    isIdle: true,
    readRuns: async (_, models) => withRuns(before, [described], models),
    logger,
  })
  return summary
}

const resultsIn = (text: string) => JSON.parse(text) as Results

async function record(
  { models, failures, snapshot, orphans, files }: IdleNote,
  { target, paths }: IdleScope,
  { project, progress, selection = allModels }: RunWithoutEngine,
  results: RunResults,
) {
  const { runId } = results
  progress({ event: 'run-started', run_id: runId, models: models.length })
  // None is modified, or there would be something to do.
  const selected = select(knownModels(project), selection, () => false)
  results.selected = selected
  if (selected.size < models.length) progress({ event: 'models-selected', models: selected.size })
  for (const [model, because] of failures) if (because !== null) results.start(model, because)
  for (const model of models) if (selected.has(model.model)) results.finish({ ...model, ms: 0 })
  results.snapshot = { id: snapshot, changed: false }
  if (isAboutAll({ selection })) results.orphans = orphans
  const summary = results.summarize()
  const described = describeResults(summary)
  const hashes = new Map(files.map(([name, , hash]) => [name, hash]))
  await writeArtifacts(paths.target, project, summary, hashes)
  await target.addWaitingRun(runId, JSON.stringify(described))
  progress({ event: 'run-finished', run_id: runId, ok: summary.ok, ms: summary.ms })
  return { summary, described }
}

/** A buffer that cannot be opened is refused as in any run, which says so. */
async function isFlushed(
  { paths }: IdleScope,
  { project, hasWaitingEvents, openClaims }: RunWithoutEngine,
): Promise<boolean> {
  if (await hasWaitingEvents()) return false
  const collected = [...project.models.values()].filter(({ kind }) => kind === 'events')
  if (collected.length === 0 && !existsSync(paths.buffer)) return true
  await using claims = await openClaims()
  const targets = await claims.targets()
  if ((await claims.damaged()).length > 0) return false
  return targets.every((target) => collected.some(({ name }) => sameName(name, target)))
}
