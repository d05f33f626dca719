// Events that are sent while a run goes on, which never waits for them. What waits is bounded, and so is the time after
// the run; what is given up is counted.

import { limits } from '../../core/limits.ts'
import type { EventWay } from './ways.ts'

interface Outcome {
  readonly events: number
  readonly lost: number
  /** Why the first one was lost. */
  readonly problem: string | null
}

export class Outbox {
  readonly #way: EventWay
  readonly #lanes: Lane[]
  readonly #stop = new AbortController()
  #events = 0
  #lost = 0
  #waitingBytes = 0
  #problem: string | null = null
  #isDead = false

  constructor(way: EventWay) {
    this.#way = way
    this.#lanes = Array.from({ length: way.lanes }, () => ({ waiting: [], sending: null }))
  }

  /** Events of one lane arrive in their order. */
  add(event: string, lane: number): void {
    this.#events++
    if (this.#isDead) return void this.#lost++
    if (this.#waitingBytes + event.length > limits.lineageWaitingBytes)
      return this.#lose(1, 'too many events are waiting')
    const chosen = this.#lanes[lane % this.#lanes.length]!
    this.#waitingBytes += event.length
    chosen.waiting.push(event)
    chosen.sending ??= this.#drain(chosen)
  }

  /** What is not sent within `graceMs` is given up. */
  async end(graceMs: number): Promise<Outcome> {
    const timer = setTimeout(() => {
      this.#giveUp('no time was left')
      this.#stop.abort()
    }, graceMs)
    await Promise.all(this.#lanes.map(async ({ sending }) => await sending))
    clearTimeout(timer)
    return { events: this.#events, lost: this.#lost, problem: this.#problem }
  }

  async #drain(lane: Lane): Promise<void> {
    for (let next = lane.waiting.shift(); next !== undefined; next = lane.waiting.shift()) {
      this.#waitingBytes -= next.length
      const { problem, isDead } = await this.#way.send(next, this.#stop.signal)
      if (problem === null) continue
      this.#lose(1, problem)
      if (isDead) this.#giveUp(problem)
    }
    lane.sending = null
  }

  #lose(events: number, problem: string): void {
    this.#lost += events
    this.#problem ??= problem
  }

  #giveUp(problem: string): void {
    this.#isDead = true
    for (const { waiting } of this.#lanes) this.#lose(waiting.splice(0).length, problem)
    this.#waitingBytes = 0
  }
}

interface Lane {
  readonly waiting: string[]
  sending: Promise<void> | null
}
