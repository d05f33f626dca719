// The results of a run: gathered while it works, summed up at its end.

import { randomUUID } from 'node:crypto'
import type { Model } from '../core/model.ts'
import { limits } from '../core/limits.ts'
import type { ModelName } from '../core/names.ts'
import type { ChangedByHand } from '../core/report/by-hand.ts'
import type { DamagedEvents } from '../core/report/damaged-events.ts'
import type { ModelResult, Progress, FlushCount, RunSummary } from '../core/report/progress.ts'
import type { Connection } from '../duckdb/database.ts'
import type { Published } from '../store/snapshots.ts'

export class RunResults {
  readonly runId: string
  readonly startedAt: Date
  readonly flushed = new Map<ModelName, FlushCount>()
  /** The version that each model has now that is built, or left as it is. */
  readonly versions = new Map<ModelName, string>()
  snapshot: RunSummary['snapshot'] = null
  orphans: RunSummary['orphans'] = []
  /** The models that the run is about; empty until it knows. */
  selected: ReadonlySet<ModelName> = new Set()
  /** Hashes of the files that models read; empty until they are known. */
  fileHashes: ReadonlyMap<string, string> = new Map()
  /** What is damaged of the models that the run has flushed. */
  damaged: readonly DamagedEvents[] = []
  #byHand: readonly ChangedByHand[] = []
  /** Whether the project has no mistake outside its models, as far as the run is concerned. */
  projectIsWhole = true
  readonly #startedMs: number
  readonly #progress: Progress
  readonly #started = new Map<ModelName, string>()
  readonly #ofRows = new Set<ModelName>()
  readonly #results = new Map<ModelName, ModelResult>()
  readonly #failed = new FailedModels()

  /** `startedMs`: of performance.now(), from when on the run is timed. */
  constructor(startedAt: Date, progress: Progress, startedMs = performance.now()) {
    const time = startedAt.toISOString().replace(/[-:]|\.\d+/g, '')
    this.runId = `${time}-${randomUUID().slice(0, 6)}`
    this.startedAt = startedAt
    this.#startedMs = startedMs
    this.#progress = progress
  }

  countFlushed(model: ModelName, { events, rejected }: FlushCount): void {
    const before = this.flushed.get(model) ?? { events: 0, rejected: 0 }
    this.flushed.set(model, {
      events: before.events + events,
      rejected: before.rejected + rejected,
    })
  }

  /** Until somebody takes them away: a run that leaves them out has not done all. */
  countDamaged(damaged: readonly DamagedEvents[]): void {
    this.damaged = damaged
    for (const { target, ...kept } of damaged)
      this.#progress({ event: 'events-damaged', model: target, ...kept })
  }

  /** Until somebody publishes it: a run that finds it says it. */
  noteByHand(changes: readonly ChangedByHand[]): void {
    this.#byHand = changes
    for (const change of changes) this.#progress({ event: 'changed-by-hand', ...change })
  }

  /** Announced once, though a group that failed is built again. */
  start(model: ModelName, because: string): void {
    if (this.#started.has(model)) return
    this.#started.set(model, because)
    this.#progress({ event: 'model-started', model, because })
  }

  finish(result: ModelResult): void {
    this.#results.set(result.model, result)
    this.#progress({ event: 'model-finished', ...result })
  }

  isFinished(model: ModelName): boolean {
    return this.#results.has(model)
  }

  get finished(): ReadonlySet<ModelName> {
    return new Set(this.#results.keys())
  }

  get hasFailed(): boolean {
    return this.#failed.size > 0
  }

  failureOf(model: ModelName): string | null {
    const result = this.#results.get(model)
    return result?.status === 'failed' ? result.because : null
  }

  /** Those of the selected models that have no result were not reached. */
  skipRest(because: string): void {
    for (const model of this.selected)
      if (!this.isFinished(model)) this.finish({ model, status: 'skipped', because, ms: 0 })
  }

  fail(
    model: ModelName,
    because: string,
    ms = 0,
    known: Pick<ModelResult, 'changes' | 'read_by'> = {},
  ): void {
    this.#failed.add(model)
    this.finish({ model, status: 'failed', because, ...known, ms })
  }

  /** The model has failed, and its rows are the reason (lasting-failures.ts). */
  noteRows(model: ModelName): void {
    this.#ofRows.add(model)
  }

  /** Models that failed for their rows, with why they were built; null where something else is left, too. */
  get failedForRows(): ReadonlyMap<ModelName, string> | null {
    if (!this.projectIsWhole || this.damaged.length > 0) return null
    const noted = [...this.#ofRows].filter((model) => this.#started.has(model))
    return new Map(noted.map((model) => [model, this.#started.get(model)!]))
  }

  /** True when the model has failed, or was skipped now since one that it reads has. */
  isBlocked(model: Model): boolean {
    if (this.#failed.has(model.name)) return true
    const root = this.#failed.upstreamOf(model)
    if (root === null) return false
    this.finish({ model: model.name, status: 'skipped', because: `${root} failed`, ms: 0 })
    return true
  }

  remove(model: ModelName): void {
    this.#progress({ event: 'model-removed', model })
  }

  /** When every selected model has a result. */
  summarize(): RunSummary {
    const { runId, startedAt, flushed, snapshot, orphans } = this
    const results = Array.from(this.selected, (model) => this.#results.get(model)!)
    const isGood = results.every(({ status }) => status === 'built' || status === 'unchanged')
    return {
      runId,
      ok: isGood && this.projectIsWhole && this.damaged.length === 0,
      startedAt,
      ms: performance.now() - this.#startedMs,
      flushed: Array.from(flushed, ([model, counts]) => ({ model, ...counts })),
      models: results,
      snapshot,
      orphans,
      byHand: this.#byHand,
    }
  }
}

export const whyUnchanged = ({ kind }: Model): string =>
  kind === 'events' ? 'no new events' : 'nothing changed'

/**
 * Whether a run has built so few of the `known` models, and rows, that it leaves its log for the next one that opens the
 * warehouse: describing all relations again would cost more.
 */
export function wroteLittle({ flushed, models }: RunSummary, known: number): boolean {
  const touched = models.filter(({ status }) => status !== 'unchanged')
  return (
    flushed.length === 0 &&
    touched.length * limits.leftLogModels <= known &&
    touched.every(({ rows = 0 }) => rows <= limits.leftLogRows)
  )
}

/** What a run notes for the next one (idle.ts). */
export interface NoteDraft {
  /**
   * Call it before the warehouse is closed and after the last change of it, and the returned function when it is closed.
   * `meanwhile` is waited for.
   */
  hold(run: EndedRun, connection: Connection, meanwhile: Promise<unknown>): Promise<WriteNote>
}

interface EndedRun {
  readonly summary: RunSummary
  readonly published: Published
  readonly fileHashes: ReadonlyMap<string, string>
  readonly failedForRows: ReadonlyMap<ModelName, string> | null
}

export type WriteNote = () => Promise<void>

/** Which models have failed, and which must be skipped on their account. */
export class FailedModels {
  /** For a failed or skipped model the failed one that it leads back to. */
  readonly #rootOf = new Map<ModelName, ModelName>()

  get size(): number {
    return this.#rootOf.size
  }

  add(name: ModelName): void {
    this.#rootOf.set(name, name)
  }

  /** Whether the model has failed or must be skipped. */
  has(name: ModelName): boolean {
    return this.#rootOf.has(name)
  }

  /** The failed model for which this one must be skipped; null: there is none. Ask in DAG order. */
  upstreamOf({ name, dependsOn }: Pick<Model, 'name' | 'dependsOn'>): ModelName | null {
    for (const input of dependsOn) {
      const root = this.#rootOf.get(input)
      if (root === undefined) continue
      this.#rootOf.set(name, root)
      return root
    }
    return null
  }
}
