// Admission control: how many queries run in DuckDB at once, and how many may wait. Each running one holds a thread of
// the pool that Node shares with the file system (UV_THREADPOOL_SIZE is set above the number of them).
//
// Large queries may use some of these slots, small ones all of them: otherwise a dozen reports that run for half
// a minute would make a lookup wait for just as long, and the main thread for its share of the processors.

import { limits } from '../../core/limits.ts'
import { processors } from '../../core/machine.ts'
import { Resources } from '../../core/resources.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import { RequestError } from '../../http/request-error.ts'
import { odataError } from '../protocol/errors.ts'

interface AdmissionLimits {
  readonly running: number
  readonly large: number
  /** How many of each sort may wait. */
  readonly waiting: number
}

/**
 * `small`: it is known to end soon. `shared`: it is not, and its answer is the same whichever threads make it
 * (bind/effort.ts).
 */
export type Effort = 'small' | 'large' | 'shared'

export interface AdmissionOptions {
  /** Aborted when the caller no longer waits; the promise then rejects with its reason. */
  readonly signal: AbortSignal
  /** A query that has started is readmitted however many wait, or it could never end. */
  readonly begun: boolean
  /** Whether it is known to end soon. */
  readonly isSmall: boolean
}

export type Admission = ReturnType<typeof createAdmission>

interface Waiting {
  readonly isSmall: boolean
  readonly start: () => void
}

/** Those that a service has, or each of the processes that share them: a large query leaves room for others in each. */
export function admissionLimits(processorCount = processors(), processes = 1): AdmissionLimits {
  const { runningQueries, waitingQueries, largeQueries, largeQueriesPerProcessor } = limits
  const running = Math.max(2, Math.ceil(runningQueries / processes))
  const large = Math.min(largeQueries, largeQueriesPerProcessor * processorCount)
  return {
    running,
    large: Math.min(running - 1, Math.ceil(large / processes)),
    waiting: Math.ceil(waitingQueries / processes),
  }
}

export function createAdmission({ running, large, waiting }: AdmissionLimits) {
  let atWork = 0
  let largeAtWork = 0
  let refused = 0
  /** Those that have waited longest come first; none of them may start. */
  const queue: Waiting[] = []

  const mayStart = ({ isSmall }: Pick<Waiting, 'isSmall'>) =>
    atWork < running && (isSmall || largeAtWork < large)

  function count(isSmall: boolean, by: 1 | -1): void {
    atWork += by
    if (!isSmall) largeAtWork += by
  }

  const enter = ({ signal, begun, isSmall }: AdmissionOptions): Promise<void> | void => {
    signal.throwIfAborted()
    if (mayStart({ isSmall })) return count(isSmall, 1)
    if (!begun && queue.filter((other) => other.isSmall === isSmall).length >= waiting) {
      refused++
      throw overloaded()
    }
    return new Promise((resolve, reject) => {
      const start = () => {
        signal.removeEventListener('abort', giveUp)
        count(isSmall, 1)
        resolve()
      }
      const entry = { isSmall, start }
      const giveUp = () => {
        queue.splice(queue.indexOf(entry), 1)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      queue.push(entry)
    })
  }

  function leave({ isSmall }: AdmissionOptions): void {
    count(isSmall, -1)
    const next = queue.findIndex(mayStart)
    if (next >= 0) queue.splice(next, 1)[0]!.start()
  }

  return {
    /** Runs `work` once admitted. Throws RequestError 503 when the queue is full. */
    async run<T>(work: () => Promise<T>, options: AdmissionOptions): Promise<T> {
      await enter(options)
      try {
        return await work()
      } finally {
        leave(options)
      }
    },
    /** Now, and refused since the start. */
    get load() {
      return { running: atWork, waiting: queue.length, refused }
    },
  }
}

export function overloaded() {
  return odataError('overloaded', 'the service is busy; try again later', {
    headers: { 'Retry-After': String(limits.retryAfterSeconds) },
  })
}

/** DuckDB had not enough memory. Waiting helps where other queries have it, and a smaller answer helps in any case. */
export const outOfMemory = (cause: DatabaseError) =>
  odataError(
    'overloaded',
    'the service has not enough memory for this answer; ask for less with $select or $top, or try again later',
    { headers: { 'Retry-After': String(limits.retryAfterSeconds) }, cause },
  )

/** Whether DuckDB had not enough memory, or the rows would have taken too much of it. */
export const isOutOfMemory = (error: unknown): boolean =>
  error instanceof RequestError && error.cause instanceof DatabaseError

export type OpenStreams = ReturnType<typeof createOpenStreams>

/**
 * How many streamed answers are open at once. Each has rows in DuckDB and on their way to its client for as long as the client
 * takes them, without a place in the admission control while it does nothing.
 */
export function createOpenStreams(most: number) {
  let count = 0
  return {
    /** A slot, until it is disposed of. Throws RequestError 503 when all are taken. */
    enter(): AsyncDisposable {
      if (count >= most) throw overloaded()
      count++
      const slot = new Resources()
      slot.defer(() => void count--)
      return slot
    },
    get isFull() {
      return count >= most
    },
    get count() {
      return count
    },
  }
}
