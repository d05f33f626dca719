// Which scheduled runs are due. A clock that jumps forward, as after a sleep, makes each run due once, however many times
// have passed; one that is set back makes them due at their next times again.

import { limits } from '../core/limits.ts'
import type { ScheduledRun } from '../core/schedule.ts'

interface Due {
  readonly run: ScheduledRun
  /** The last of its times that have passed. */
  readonly dueMs: number
  /** Times before it that have passed without a look. */
  readonly missed: number
}

export class Timetable {
  readonly #runs: readonly ScheduledRun[]
  readonly #next = new Map<ScheduledRun, number>()
  #nowMs: number

  /** `expected`: the next times that were known when the supervisor was last at work, by name. */
  constructor(
    runs: readonly ScheduledRun[],
    nowMs: number,
    expected: ReadonlyMap<string, number> = new Map(),
  ) {
    this.#runs = runs
    this.#nowMs = nowMs
    for (const run of runs) {
      const nextMs = run.dueAfter(nowMs)
      this.#next.set(run, Math.min(nextMs, expected.get(run.name) ?? nextMs))
    }
  }

  /** The runs whose time has come, in the order of eider.yml. */
  take(nowMs: number): readonly Due[] {
    const isSetBack = nowMs < this.#nowMs - limits.clockSetBackMs
    this.#nowMs = nowMs
    if (isSetBack) for (const run of this.#runs) this.#next.set(run, run.dueAfter(nowMs))
    return this.#runs.flatMap((run) => {
      const firstMs = this.nextOf(run)
      if (firstMs > nowMs) return []
      let [dueMs, missed] = [firstMs, 0]
      for (let nextMs = run.dueAfter(dueMs); nextMs <= nowMs; nextMs = run.dueAfter(dueMs)) {
        dueMs = nextMs
        missed++
        if (missed >= limits.countedMissedRuns) break
      }
      this.#next.set(run, run.dueAfter(nowMs))
      return [{ run, dueMs, missed }]
    })
  }

  nextOf(run: ScheduledRun): number {
    return this.#next.get(run) ?? Infinity
  }

  nextMs(): number {
    return Math.min(Infinity, ...this.#next.values())
  }
}
