// What decides when things happen: one seed, one clock, one list of what waits. A process of the world is code of eider that
// runs in this process of Node; all that it asks of the system is held here (patches) until the seed says that it is its
// turn, and done alone. So the same seed gives the same order, and a process that is killed simply never gets an answer.

import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { seededRandom } from '../support/seeded-random.ts'

export interface SimulatedProcess {
  readonly world: World
  readonly name: string
  readonly pid: number
  /** Of the clock that nobody sets. */
  readonly startedMs: number
  isDead: boolean
  /** What else has to be done when it is killed: its connections end. */
  readonly onDeath: (() => void)[]
}

interface Operation {
  readonly process: SimulatedProcess
  readonly what: string
  readonly perform: () => unknown
}

interface Timer {
  readonly process: SimulatedProcess
  readonly dueMs: number
  readonly fire: () => void
}

/** In which process of which world the code is that runs now; none in the test itself. */
const context = new AsyncLocalStorage<SimulatedProcess>()

export const currentProcess = (): SimulatedProcess | undefined => context.getStore()

export const runIn = <T>(process: SimulatedProcess, work: () => T): T => context.run(process, work)

/** Turns of the event loop without anything new after which nothing comes by itself: code that waits for a turn asks in the next. */
const QUIET_TURNS = 2
const LONGEST_OPERATION_MS = 4
const STARTED_AT_MS = Date.parse('2026-03-01T10:00:00.000Z')
const KEPT_LINES = 20_000
const KEPT_LENGTH = 400

export class World {
  readonly random: () => number
  readonly processes: SimulatedProcess[] = []
  /** The last of what happened, for people. */
  readonly lines: string[] = []
  #pending: Operation[] = []
  #timers: Timer[] = []
  #asked = 0
  #monotonicMs = 0
  #wallMs = STARTED_AT_MS
  #nextPid = 100
  readonly #journal = createHash('sha256')
  steps = 0

  /** Where it is on the disk of the system: another place each time. */
  readonly #place: string

  constructor(seed: number, place: string) {
    this.random = seededRandom(seed)
    this.#place = place
  }

  chance(share: number): boolean {
    return this.random() < share
  }

  upTo(most: number): number {
    return Math.floor(this.random() * (most + 1))
  }

  /** Of none nothing. */
  oneOf<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.random() * choices.length)]!
  }

  /** Part of what a seed has to give again, to the byte. */
  note(text: string): void {
    const line = text.replaceAll(this.#place, '')
    this.#journal.update(line).update('\n')
    this.lines.push(`${this.steps} ${line.slice(0, KEPT_LENGTH)}`)
    if (this.lines.length > KEPT_LINES) this.lines.shift()
  }

  digest(): string {
    return this.#journal.copy().digest('hex')
  }

  get wallMs(): number {
    return this.#wallMs + this.#monotonicMs
  }

  monotonicMs(process: SimulatedProcess): number {
    return this.#monotonicMs - process.startedMs
  }

  /** Somebody sets the clock of the system. */
  setClock(byMs: number): void {
    this.#wallMs += byMs
    this.note(`clock ${byMs}`)
  }

  start(name: string): SimulatedProcess {
    const process = {
      world: this,
      name,
      pid: this.#nextPid++,
      startedMs: this.#monotonicMs,
      isDead: false,
      onDeath: [],
    }
    this.processes.push(process)
    this.note(`start ${name} ${process.pid}`)
    return process
  }

  /** From now on nothing that it waits for comes. What it was has to be cleared away by who kills it. */
  kill(process: SimulatedProcess): void {
    if (process.isDead) return
    process.isDead = true
    this.note(`kill ${process.name} ${process.pid}`)
    this.processes.splice(this.processes.indexOf(process), 1)
    this.#pending = this.#pending.filter((one) => one.process !== process)
    this.#timers = this.#timers.filter((one) => one.process !== process)
    for (const end of process.onDeath) end()
  }

  /** Held until it is its turn. Never settles for a process that was killed before. */
  ask<T>(process: SimulatedProcess, what: string, work: () => T | Promise<T>): Promise<T> {
    this.#asked++
    return new Promise<T>((resolve, reject) => {
      if (process.isDead) return
      const perform = async () => {
        try {
          const done = await work()
          if (!process.isDead) resolve(done)
        } catch (error) {
          if (!process.isDead) reject(error as Error)
        }
      }
      this.#pending.push({ process, what, perform })
    })
  }

  after(process: SimulatedProcess, ms: number, fire: () => void): () => void {
    const timer = { process, dueMs: this.#monotonicMs + Math.max(0, ms || 0), fire }
    if (!process.isDead) this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer)
    }
  }

  /** Does one of the things that wait, after `settle`; false: there is none, and none will come. */
  async step(): Promise<boolean> {
    this.steps++
    if (this.#pending.length === 0 && this.#timers.length === 0) return false
    this.#monotonicMs += this.random() * LONGEST_OPERATION_MS
    if (this.#pending.length === 0)
      this.#monotonicMs = Math.max(this.#monotonicMs, Math.min(...this.#timers.map((t) => t.dueMs)))
    this.#takeDue()
    const at = Math.floor(this.random() * this.#pending.length)
    const [next] = this.#pending.splice(at, 1)
    if (next === undefined) return true
    this.note(`${next.process.name}: ${next.what}`)
    await next.perform()
    return true
  }

  /** Until the code of all processes waits for something that is held here. */
  async settle(): Promise<void> {
    for (let quiet = 0, asked = this.#asked; quiet < QUIET_TURNS; quiet++) {
      await nextTurn()
      if (asked !== this.#asked) [quiet, asked] = [0, this.#asked]
    }
  }

  #takeDue(): void {
    const due = this.#timers.filter(({ dueMs }) => dueMs <= this.#monotonicMs)
    if (due.length === 0) return
    this.#timers = this.#timers.filter((timer) => !due.includes(timer))
    for (const { process, fire } of due)
      this.#pending.push({ process, what: 'timer', perform: () => runIn(process, fire) })
  }
}
