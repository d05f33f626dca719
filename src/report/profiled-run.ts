// Gathers where the time of a run goes, from what the run says while it works.

import type { Phase, RunEvent } from '../core/report/progress.ts'
import type { EngineUse, ModelProfile, RunProfile } from '../core/report/run-profile.ts'

type Gathered = { -readonly [K in keyof ModelProfile]: ModelProfile[K] }

export class ProfiledRun {
  readonly #startedMs: number
  readonly #models = new Map<string, Gathered>()
  /** Models that are worked on at this moment. */
  readonly #open = new Set<string>()
  #compileMs = 0
  #flushMs = 0
  #firstMs: number | null = null
  #lastMs = 0
  #publishMs = 0
  #peak: EngineUse = { memory_bytes: 0, spilled_bytes: 0 }

  constructor(startedMs: number) {
    this.#startedMs = startedMs
  }

  note(event: RunEvent): void {
    const nowMs = performance.now()
    if (event.event === 'run-started') this.#compileMs = nowMs - this.#startedMs
    else if (event.event === 'flush-finished') this.#flushMs += event.ms
    else if (event.event === 'published') this.#publishMs = event.ms
    else if (event.event === 'model-started') {
      this.#firstMs ??= nowMs
      this.#open.add(event.model)
    } else if (event.event === 'model-finished') {
      this.#open.delete(event.model)
      const { model, status, rows = null, ms } = event
      if (status !== 'built' && status !== 'failed') return
      this.#firstMs ??= nowMs - ms
      this.#lastMs = nowMs
      const found = this.#of(event.model)
      Object.assign(found, { model, status, rows, ms: found.ms + ms })
    }
  }

  notePhase({ model, phase, ms }: Phase): void {
    const found = this.#models.get(model)
    // What is published and was not built is a file that stays.
    if (found === undefined && phase === 'publish') return
    const gathered = found ?? this.#of(model)
    gathered[`${phase}_ms`] += ms
    if (phase === 'publish') gathered.ms += ms
  }

  noteUse(use: EngineUse): void {
    this.#peak = larger(this.#peak, use)
    for (const model of this.#open) {
      const found = this.#of(model as ModelProfile['model'])
      const { memory_bytes: memory, spilled_bytes: spilled } = larger(use, {
        memory_bytes: found.peak_memory_bytes ?? 0,
        spilled_bytes: found.spilled_bytes ?? 0,
      })
      found.peak_memory_bytes = memory
      found.spilled_bytes = spilled
    }
  }

  /** What is known now. */
  profile(): RunProfile {
    const ms = performance.now() - this.#startedMs
    const modelsMs = this.#firstMs === null ? 0 : Math.max(0, this.#lastMs - this.#firstMs)
    const known = this.#compileMs + this.#flushMs + modelsMs + this.#publishMs
    const models = [...this.#models.values()].filter(({ status }) => status !== 'unchanged')
    return {
      ms: tenths(ms),
      compile_ms: tenths(this.#compileMs),
      flush_ms: tenths(this.#flushMs),
      models_ms: tenths(modelsMs),
      publish_ms: tenths(this.#publishMs),
      other_ms: tenths(Math.max(0, ms - known)),
      peak_memory_bytes: this.#peak.memory_bytes,
      spilled_bytes: this.#peak.spilled_bytes,
      models: models
        .toSorted((a, b) => b.ms - a.ms)
        .map((model) => ({
          ...model,
          ms: tenths(model.ms),
          build_ms: tenths(model.build_ms),
          checks_ms: tenths(model.checks_ms),
          publish_ms: tenths(model.publish_ms),
        })),
    }
  }

  #of(model: ModelProfile['model']): Gathered {
    const known = this.#models.get(model)
    if (known !== undefined) return known
    const times = { ms: 0, build_ms: 0, checks_ms: 0, publish_ms: 0 }
    const use = { peak_memory_bytes: null, spilled_bytes: null }
    const made: Gathered = { model, status: 'unchanged', ...times, rows: null, ...use }
    this.#models.set(model, made)
    return made
  }
}

const tenths = (ms: number) => Math.round(ms * 10) / 10

const larger = (a: EngineUse, b: EngineUse): EngineUse => ({
  memory_bytes: Math.max(a.memory_bytes, b.memory_bytes),
  spilled_bytes: Math.max(a.spilled_bytes, b.spilled_bytes),
})
