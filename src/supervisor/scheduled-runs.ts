// The runs of a schedule: started when they are due, one at a time, each in a new process.

import { limits } from '../core/limits.ts'
import type { RunRecord, ScheduledState, Upcoming, UpEvent } from '../core/report/up.ts'
import type { ScheduledRun } from '../core/schedule.ts'
import { processIdentity } from '../files/process-lock.ts'
import type { Child, ChildOutput } from './child.ts'
import { pause } from './restarts.ts'
import { type News, Punctuality } from './punctuality.ts'
import { RunReader } from './run-record.ts'

interface ScheduledRunsOptions {
  readonly runs: readonly ScheduledRun[]
  /** What was known when the supervisor was last at work. */
  readonly before: readonly ScheduledState[]
  readonly lateAfterMs: number | null
  readonly start: (run: ScheduledRun, output: ChildOutput) => Child
  readonly onEvent: (event: UpEvent) => void
  readonly onNews: (news: News, state: ScheduledState) => void
  readonly onLog: (line: string) => void
}

interface Work {
  readonly run: ScheduledRun
  readonly child: Child
  readonly startedAt: string
}

export class ScheduledRuns {
  readonly #options: ScheduledRunsOptions
  #timetable: Timetable
  readonly #queue = new RunQueue<ScheduledRun>()
  readonly #known: ReadonlyMap<ScheduledRun, Punctuality>
  readonly #stop = new AbortController()
  #work: Work | null = null
  #ended: Promise<void> = Promise.resolve()

  constructor(options: ScheduledRunsOptions) {
    this.#options = options
    const { runs, before } = options
    this.#timetable = timetableOf(options)
    this.#known = new Map(runs.map((run) => [run, new Punctuality(stateBefore(run, before))]))
  }

  /** From now on times pass; those that have passed since the supervisor was last at work are made up for. */
  begin(): void {
    this.#timetable = timetableOf(this.#options)
  }

  /** Until it is ended. */
  async keepTime(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      const nowMs = Date.now()
      for (const { run, dueMs, missed } of this.#timetable.take(nowMs)) {
        if (missed > 0) {
          this.#known.get(run)!.missed(missed)
          this.#options.onEvent({ event: 'scheduled-runs-missed', name: run.name, missed })
        }
        this.#due(run, dueMs)
      }
      this.#lookForLateness(nowMs)
      const restMs = this.#timetable.nextMs() - Date.now()
      await pause(Math.max(1, Math.min(restMs, limits.lookAtClockMs)), signal)
    }
  }

  /** Also starts those that are not due. */
  startAll(): void {
    for (const run of this.#options.runs) this.#due(run, Date.now())
  }

  upcoming(): readonly Upcoming[] {
    return this.#options.runs.map((run) => this.#upcoming(run))
  }

  states(): readonly ScheduledState[] {
    return this.#options.runs.map((run) => this.#stateOf(run))
  }

  /** The run at work is stopped, which leaves everything as it was before it, and those that wait never start. */
  async end(graceMs: number): Promise<void> {
    this.#stop.abort()
    await this.#work?.child.end(graceMs)
    await this.#ended
  }

  kill(): void {
    this.#stop.abort()
    this.#work?.child.kill()
  }

  #due(run: ScheduledRun, dueMs: number): void {
    const known = this.#known.get(run)!
    known.due(Date.now())
    const next = this.#queue.offer(run)
    if (next === 'start') this.#start(run, dueMs)
    if (next !== 'skip') return
    const more = { name: run.name, due: new Date(dueMs).toISOString(), skipped: known.skipped() }
    this.#options.onEvent({ event: 'scheduled-run-skipped', ...more })
  }

  #start(run: ScheduledRun, dueMs: number): void {
    const { name } = run
    const reader = new RunReader()
    const { start, onEvent, onLog } = this.#options
    const child = start(run, { onResult: (line) => reader.read(line), onLog })
    const [startedAt, startedMs] = [new Date().toISOString(), performance.now()]
    this.#work = { run, child, startedAt }
    onEvent({ event: 'scheduled-run-started', name, due: new Date(dueMs).toISOString() })
    this.#ended = child.ended.then((exit) => {
      const started = { name, started_at: startedAt, ms: Math.round(performance.now() - startedMs) }
      this.#finish(run, reader.record(started, exit, this.#stop.signal.aborted))
    })
  }

  #finish(run: ScheduledRun, record: RunRecord): void {
    this.#work = null
    const known = this.#known.get(run)!
    const news = known.ended(record, Date.now())
    this.#options.onEvent({ event: 'scheduled-run-finished', ...record })
    if (news !== null) this.#options.onNews(news, this.#stateOf(run))
    const next = this.#stop.signal.aborted ? null : this.#queue.next()
    if (next !== null) this.#start(next, Date.now())
  }

  #lookForLateness(nowMs: number): void {
    const { lateAfterMs, runs, onEvent, onNews } = this.#options
    if (lateAfterMs === null) return
    for (const run of runs) {
      const known = this.#known.get(run)!
      const news = known.look(nowMs, lateAfterMs)
      if (news === null) continue
      onEvent({ event: 'run-late', name: run.name, due: known.known.waiting_since! })
      onNews(news, this.#stateOf(run))
    }
  }

  #stateOf(run: ScheduledRun): ScheduledState {
    const work = this.#work?.run === run ? this.#work : null
    const pid = work?.child.pid ?? null
    const working =
      work === null || pid === null
        ? null
        : { pid, process: processIdentity(pid), since: work.startedAt }
    return { ...this.#upcoming(run), working, ...this.#known.get(run)!.known }
  }

  #upcoming(run: ScheduledRun): Upcoming {
    const nextMs = this.#timetable.nextOf(run)
    const next = Number.isFinite(nextMs) ? new Date(nextMs).toISOString() : null
    return { name: run.name, when: run.when, next }
  }
}

function timetableOf({ runs, before }: ScheduledRunsOptions): Timetable {
  const expected = runs.flatMap((run): [string, number][] => {
    const next = stateBefore(run, before)?.next ?? null
    return next === null ? [] : [[run.name, Date.parse(next)]]
  })
  return new Timetable(runs, Date.now(), new Map(expected))
}

/** A run that has got other times is another one. */
const stateBefore = ({ name, when }: ScheduledRun, before: readonly ScheduledState[]) =>
  before.find((state) => state.name === name && state.when === when)

// One scheduled run at a time. One that is due while another works, or while it works itself, waits for its turn and waits
// once: what came during a long run is in the tables soon after, and a frequent run never keeps a nightly one from starting.

export class RunQueue<T> {
  #working: T | null = null
  readonly #waiting = new Set<T>()

  /** What becomes of a run that is due. */
  offer(run: T): 'start' | 'wait' | 'skip' {
    if (this.#working === null) {
      this.#working = run
      return 'start'
    }
    if (this.#waiting.has(run)) return 'skip'
    this.#waiting.add(run)
    return 'wait'
  }

  /** The run at work has ended. Gives the next one, which is then at work; null: none waits. */
  next(): T | null {
    const [first = null] = this.#waiting
    if (first !== null) this.#waiting.delete(first)
    this.#working = first
    return first
  }
}

// Which scheduled runs are due. A clock that jumps forward, as after a sleep, makes each run due once, however many times
// have passed; one that is set back makes them due at their next times again.

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
