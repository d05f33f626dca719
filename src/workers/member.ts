// A worker's side: what it hears from the process that leads the workers, and what it tells it.

import type { Family } from '../http/prometheus.ts'
import type { FromWorker, Listening, Orders, ToWorker } from './messages.ts'

interface Fellow {
  readonly metrics: () => Promise<readonly Family[]>
  readonly look: () => void
}

interface Turning {
  readonly mark: string
  readonly turn: () => void
  readonly end: (hasTurned: boolean) => void
}

export class Member {
  /** What requests wait for while all turn to a newer state. */
  pause: Promise<void> | null = null
  #goOn: () => void = () => {}
  #fellow: Fellow | null = null
  #turning: Turning | null = null
  readonly #sums = new Map<number, (all: readonly Family[]) => void>()
  #asked = 0
  #take: (orders: Orders) => void = () => {}

  /** The process must be one that lead.ts has started. */
  constructor() {
    process.on('message', (message) => this.#hear(message as ToWorker))
  }

  /** What this worker has in common with the others. */
  orders(): Promise<Orders> {
    return new Promise((resolve) => {
      this.#take = resolve
      tell({ say: 'hello' })
    })
  }

  listens(where: Listening): void {
    tell({ say: 'listening', ...where })
  }

  join(fellow: Fellow): void {
    this.#fellow = fellow
  }

  turnTo(mark: string, turn: () => void, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (hasTurned: boolean) => {
        signal.removeEventListener('abort', stop)
        this.#turning = null
        this.pause = null
        this.#goOn()
        resolve(hasTurned)
      }
      const stop = () => end(false)
      signal.addEventListener('abort', stop)
      this.#turning = { mark, turn, end }
      if (signal.aborted) stop()
      else tell({ say: 'opened', mark })
    })
  }

  addUp(own: readonly Family[]): Promise<readonly Family[]> {
    const ask = ++this.#asked
    return new Promise((resolve) => {
      this.#sums.set(ask, resolve)
      tell({ say: 'add-up', ask, own })
    })
  }

  /** The process may end from now on: until then its channel keeps it alive. */
  leave(): void {
    process.channel?.unref()
  }

  #hear(message: ToWorker): void {
    if (message.say === 'orders') this.#take(message.orders)
    else if (message.say === 'look') this.#fellow?.look()
    else if (message.say === 'again') this.#turning?.end(false)
    else if (message.say === 'pause') this.#pauseFor(message.mark)
    else if (message.say === 'turn') this.#turn(message.mark)
    else if (message.say === 'count') void this.#count(message.ask)
    else {
      this.#sums.get(message.ask)?.(message.all)
      this.#sums.delete(message.ask)
    }
  }

  #pauseFor(mark: string): void {
    if (this.#turning?.mark !== mark) return
    this.pause ??= new Promise((resolve) => (this.#goOn = resolve))
    tell({ say: 'paused', mark })
  }

  #turn(mark: string): void {
    if (this.#turning?.mark !== mark) return
    this.#turning.turn()
    this.#turning.end(true)
  }

  async #count(ask: number): Promise<void> {
    const own = (await this.#fellow?.metrics()) ?? []
    tell({ say: 'counts', ask, own })
  }
}

/** A leader that is gone hears nothing, and this process ends. */
const tell = (message: FromWorker): void =>
  void process.send?.(message, undefined, undefined, () => {})
