// When a process that has died is started again.

import { limits } from '../core/limits.ts'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * How long to wait before a service that has died is started again: 1, 2, 4 … 60 seconds, from the beginning again after
 * it has lived for a while.
 */
export class Restarts {
  #deathsMs: number[] = []
  #inARow = 0

  /** null: it has died too often. Times are of a clock that is never set. */
  delayAfter(startedMs: number, endedMs: number): number | null {
    const { restartWindowMs, restartDeaths, restartDelayMs, longestRestartDelayMs } = limits
    this.#deathsMs = this.#deathsMs.filter((ms) => ms > endedMs - restartWindowMs)
    this.#deathsMs.push(endedMs)
    if (this.#deathsMs.length >= restartDeaths) return null
    this.#inARow = endedMs - startedMs >= restartWindowMs ? 1 : this.#inARow + 1
    return Math.min(longestRestartDelayMs, restartDelayMs * 2 ** (this.#inARow - 1))
  }
}

// Waiting that a stop cuts short.

export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {})
