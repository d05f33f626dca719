// Tasks that may wait: so many run at a time, in the order in which they came, so that what a person waits for goes first.

export interface TaskRunner {
  run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T>
}

export class Semaphore implements TaskRunner {
  readonly #limit: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** For what ends something that has begun: before all others that wait. */
  readonly next: TaskRunner = { run: (task, signal) => this.#run(task, signal, true) }

  /** Rejects without running the task when `signal` is aborted while it waits. */
  run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#run(task, signal, false)
  }

  async #run<T>(task: () => Promise<T>, signal: AbortSignal, isNext: boolean): Promise<T> {
    if (this.#running < this.#limit) this.#running++
    else await this.#acquire(signal, isNext)
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

  #acquire(signal: AbortSignal, isNext: boolean): Promise<void> {
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
      if (isNext) this.#waiting.unshift(enter)
      else this.#waiting.push(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}
