// How all workers turn to a newer published state, so that no answer is from an earlier one after an answer from it.
//
// Each worker opens the state beside the one that it answers from. When all have it open, all are told to begin no more
// answers; when all have said so, all are told to turn. A worker that has not done its part in time is given up: another
// takes its place. Workers that have opened different states, since a third one was published meanwhile, look again.
//
// A worker that has just been started answers nothing yet, so nobody waits for it until it has opened a state.

import { limits } from '../core/limits.ts'
import type { ToWorker } from './messages.ts'

interface Part {
  /** Whether it answers, from the state of all. */
  answers: boolean
  /** The state that it waits to turn to. */
  opened: string | null
  isPaused: boolean
}

interface TakeOverOptions<Worker> {
  readonly tell: (worker: Worker, message: ToWorker) => void
  readonly giveUp: (worker: Worker, because: string) => void
  readonly opensMs?: number
  readonly turnsMs?: number
}

export class TakeOver<Worker> {
  readonly #options: TakeOverOptions<Worker>
  readonly #parts = new Map<Worker, Part>()
  /** The state that those who answer answer from. */
  #current: string | null = null
  /** The state that workers pause for. */
  #next: string | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(options: TakeOverOptions<Worker>) {
    this.#options = options
  }

  join(worker: Worker): void {
    this.#parts.set(worker, { answers: false, opened: null, isPaused: false })
  }

  /** It answers from now on, also where nothing is published yet. */
  listens(worker: Worker): void {
    const part = this.#parts.get(worker)
    if (part === undefined || part.answers) return
    part.answers = true
    if (this.#current !== null) this.#options.tell(worker, { say: 'look' })
  }

  leave(worker: Worker): void {
    if (this.#parts.delete(worker)) this.#goOn(null)
  }

  opened(worker: Worker, mark: string): void {
    const part = this.#parts.get(worker)
    if (part === undefined) return
    part.opened = mark
    // It comes to where the others are; nobody turns.
    if (this.#next === null && mark === this.#current) return this.#turn(worker, part)
    if (this.#next === mark) this.#options.tell(worker, { say: 'pause', mark })
    else this.#lookAround()
    this.#goOn(mark)
  }

  paused(worker: Worker, mark: string): void {
    const part = this.#parts.get(worker)
    if (part === undefined || part.opened !== mark || mark !== this.#next) return
    part.isPaused = true
    this.#goOn(mark)
  }

  close(): void {
    this.#setTimer(null)
    this.#parts.clear()
  }

  /** Those who may have to be waited for: all but those who have only just begun. */
  #awaited(): readonly (readonly [Worker, Part])[] {
    return [...this.#parts].filter(([, { answers, opened }]) => answers || opened !== null)
  }

  /** `latest`: the state that was opened last. */
  #goOn(latest: string | null): void {
    const awaited = this.#awaited()
    if (awaited.length === 0) return this.#reset()
    if (this.#next !== null) return this.#turnAll(awaited, this.#next)
    if (awaited.some(([, { opened }]) => opened === null)) return
    const mark = latest ?? awaited.at(-1)![1].opened!
    const others = awaited.filter(([, { opened }]) => opened !== mark)
    for (const [worker, part] of others) {
      part.opened = null
      this.#options.tell(worker, { say: 'again' })
    }
    if (others.length > 0) return
    this.#next = mark
    this.#setTimer(this.#options.turnsMs ?? limits.workerTurnsMs, ({ isPaused }) => isPaused)
    for (const [worker] of awaited) this.#options.tell(worker, { say: 'pause', mark })
  }

  #turnAll(awaited: readonly (readonly [Worker, Part])[], mark: string): void {
    const turning = awaited.filter(([, { answers, opened }]) => answers || opened === mark)
    if (turning.some(([, { isPaused }]) => !isPaused)) return
    this.#current = mark
    this.#reset()
    for (const [worker, part] of turning) this.#turn(worker, part)
    // One that has just begun may have opened a state after this one.
    const later = awaited.find(([, { opened }]) => opened !== null)?.[1].opened
    if (later == null) return
    this.#lookAround()
    this.#goOn(later)
  }

  #turn(worker: Worker, part: Part): void {
    Object.assign(part, { answers: true, opened: null, isPaused: false })
    this.#options.tell(worker, { say: 'turn', mark: this.#current! })
  }

  #reset(): void {
    this.#next = null
    this.#setTimer(null)
  }

  /** From the first on who has opened a state. */
  #lookAround(): void {
    if (this.#next !== null || this.#timer !== null) return
    this.#setTimer(this.#options.opensMs ?? limits.workerOpensMs, ({ opened }) => opened !== null)
    for (const [worker, { answers, opened }] of this.#parts)
      if (answers && opened === null) this.#options.tell(worker, { say: 'look' })
  }

  /** Those who are not done by then are given up. */
  #setTimer(ms: number | null, isDone: (part: Part) => boolean = () => true): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (ms === null) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      const awaited = this.#awaited()
      // Whoever had opened something may be gone, and there may be nothing to open.
      if (awaited.every(([, { opened }]) => opened === null)) return
      const late = awaited.filter(([, part]) => !isDone(part))
      for (const [worker] of late)
        this.#options.giveUp(worker, `had not turned to the newer state after ${ms / 1000} s`)
      for (const [worker] of late) this.leave(worker)
    }, ms)
  }
}
