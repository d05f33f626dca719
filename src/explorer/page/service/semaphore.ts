// Tasks that may wait: so many run at a time, in the order in which they came, so that what a person waits for goes first.

export class Semaphore {
  readonly #limit: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Rejects without running the task when `signal` is aborted while it waits. `next`: before all others that wait. */
  async run<T>(
    task: () => Promise<T>,
    signal: AbortSignal,
    turn: 'last' | 'next' = 'last',
  ): Promise<T> {
    if (this.#running < this.#limit) this.#running++
    else await this.#acquire(signal, turn)
    try {
      signal.throwIfAborted()
      return await task()
    } finally {
      // A place is handed on as it is, so that nobody who comes meanwhile takes it too.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }

  #acquire(signal: AbortSignal, turn: 'last' | 'next'): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        reject(signal.reason as Error)
      }
      const enter = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      if (signal.aborted) return reject(signal.reason as Error)
      if (turn === 'next') this.#waiting.unshift(enter)
      else this.#waiting.push(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}
