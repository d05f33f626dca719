// The metrics of all workers as those of one service.

import { limits } from '../core/limits.ts'
import { addUp, countsOf, type Family } from '../http/prometheus.ts'
import type { ToWorker } from './messages.ts'

interface Asking {
  readonly missing: Set<unknown>
  readonly answer: () => void
}

export class WorkerCounts<Worker> {
  readonly #tell: (worker: Worker, message: ToWorker) => void
  readonly #said = new Map<Worker, readonly Family[]>()
  /** What those that are gone have counted: a count that shrinks would look like a new service. */
  #past: readonly Family[] = []
  readonly #asking = new Map<number, Asking>()
  #asked = 0

  constructor(tell: (worker: Worker, message: ToWorker) => void) {
    this.#tell = tell
  }

  join(worker: Worker): void {
    this.#said.set(worker, [])
  }

  leave(worker: Worker): void {
    this.#past = addUp([this.#past, countsOf(this.#said.get(worker) ?? [])])
    this.#said.delete(worker)
    for (const asking of this.#asking.values()) this.#settle(worker, asking)
  }

  said(worker: Worker, ask: number, own: readonly Family[]): void {
    if (!this.#said.has(worker)) return
    this.#said.set(worker, own)
    const asking = this.#asking.get(ask)
    if (asking !== undefined) this.#settle(worker, asking)
  }

  /** With what `worker` counts itself. Of one that does not answer in time, what it has said before. */
  addUp(worker: Worker, ask: number, own: readonly Family[]): void {
    if (!this.#said.has(worker)) return
    this.#said.set(worker, own)
    const others = [...this.#said.keys()].filter((other) => other !== worker)
    const number = ++this.#asked
    const answer = () => {
      clearTimeout(timer)
      if (!this.#asking.delete(number)) return
      // In the order in which the one that is asked has them.
      const rest = [...this.#said].filter(([other]) => other !== worker)
      const all = addUp([own, ...rest.map(([, families]) => families), this.#past])
      this.#tell(worker, { say: 'sum', ask, all })
    }
    const timer = setTimeout(answer, limits.workerCountsMs)
    this.#asking.set(number, { missing: new Set(others), answer })
    if (others.length === 0) return answer()
    for (const other of others) this.#tell(other, { say: 'count', ask: number })
  }

  #settle(worker: Worker, { missing, answer }: Asking): void {
    missing.delete(worker)
    if (missing.size === 0) answer()
  }
}
