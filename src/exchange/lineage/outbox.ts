// Events that are sent while a run goes on, which never waits for them. What waits is bounded, and so is the time after
// the run; what is given up is counted.

import { limits } from '../../core/limits.ts'
import type { EventWay, Sent } from './ways.ts'

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

  /** An event that could not even be made. */
  lose(problem: string): void {
    this.#events++
    this.#lose(1, problem)
  }

  /** What is not sent within `graceMs` is given up, also where a way does not stop when it is told to. */
  async end(graceMs: number): Promise<Outcome> {
    const sent = Promise.all(this.#lanes.map(async ({ sending }) => await sending))
    let timer
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), graceMs)
    })
    const first = await Promise.race([sent, late])
    clearTimeout(timer)
    if (first === 'late') {
      this.#giveUp('no time was left')
      this.#lose(this.#lanes.filter(({ sending }) => sending !== null).length, 'no time was left')
      this.#stop.abort()
    }
    return { events: this.#events, lost: this.#lost, problem: this.#problem }
  }

  async #drain(lane: Lane): Promise<void> {
    for (let next = lane.waiting.shift(); next !== undefined; next = lane.waiting.shift()) {
      this.#waitingBytes -= next.length
      const { problem, isDead } = await this.#send(next)
      if (problem === null) continue
      this.#lose(1, problem)
      if (isDead) this.#giveUp(problem)
    }
    lane.sending = null
  }

  /** A way that throws is as one that nobody is at the end of: an error must not leave a promise that nobody awaits yet. */
  async #send(event: string): Promise<Sent> {
    try {
      return await this.#way.send(event, this.#stop.signal)
    } catch (error) {
      const { code, name } = error as NodeJS.ErrnoException
      return { problem: code ?? name, isDead: true }
    }
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
