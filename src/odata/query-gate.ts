// How many queries work in the engine at once, and how many may wait for that. Each working query holds one thread of
// the pool that Node shares with the file system (UV_THREADPOOL_SIZE is set above the number of them).

import { limits } from '../core/limits.ts'
import { odataError } from './errors.ts'

export interface GateOptions {
  /** Aborted when the caller no longer waits; the promise then rejects with its reason. */
  readonly signal: AbortSignal
  /** A query that has begun is let in again whatever the number of those that wait, or it could never end. */
  readonly begun: boolean
}

export interface QueryGate {
  /** Runs `work` when its turn has come. Throws RequestError 503 when too many wait already. */
  run<T>(work: () => Promise<T>, options: GateOptions): Promise<T>
  /** Now, and refused since the start. */
  readonly load: { readonly running: number; readonly waiting: number; readonly refused: number }
}

export function createQueryGate(running: number, waiting: number): QueryGate {
  let free = running
  let refused = 0
  const queue: (() => void)[] = []

  const enter = ({ signal, begun }: GateOptions): Promise<void> | void => {
    signal.throwIfAborted()
    if (free > 0) {
      free--
      return
    }
    if (queue.length >= waiting && !begun) {
      refused++
      throw overloaded()
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        queue.splice(queue.indexOf(start), 1)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', leave, { once: true })
      queue.push(start)
    })
  }

  return {
    async run(work, options) {
      await enter(options)
      try {
        return await work()
      } finally {
        const next = queue.shift()
        if (next === undefined) free++
        else next()
      }
    },
    get load() {
      return { running: running - free, waiting: queue.length, refused }
    },
  }
}

export function overloaded() {
  return odataError('overloaded', 'the service is busy; ask again later', {
    headers: { 'Retry-After': String(limits.retryAfterSeconds) },
  })
}
