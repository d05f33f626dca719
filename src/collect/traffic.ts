// What the daemon has accepted and refused since it started, as numbers. Counted per group and refusal: a request
// that is accepted costs nothing more here.

import type { Commit } from '../buffer/queue.ts'
import type { ModelName } from '../core/names.ts'
import { add, createHistogram } from '../http/prometheus.ts'

/** Upper bounds in seconds: a sync takes from a tenth of a millisecond (SSD) to tens of them (disk). */
export const COMMIT_BUCKETS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
] as const

const RATE_SECONDS = 60

export type Traffic = ReturnType<typeof createTraffic>

export function createTraffic(now: () => number = Date.now) {
  const startedAt = now()
  const events = new Map<ModelName, number>()
  const bytes = new Map<ModelName, number>()
  // Answers of the public port; 202 for requests whose events were stored by them.
  const requests = new Map<number, number>()
  const refused = new Map<string, number>()
  // Time of write and sync.
  const commits = createHistogram(COMMIT_BUCKETS)
  const recent = new Map<ModelName, Recent>()
  return {
    totals: { events, bytes, requests, refused, commits },
    committed(this: void, commit: Commit) {
      const { target, ms } = commit
      add(events, target, commit.events)
      add(bytes, target, commit.bytes)
      add(requests, 202, commit.requests)
      commits.observe(ms / 1000)
      const slots = recent.get(target) ?? newRecent()
      recent.set(target, slots)
      count(slots, Math.floor(now() / 1000), commit.events)
    },
    refused(this: void, status: number, code: string) {
      add(requests, status, 1)
      add(refused, code, 1)
    },
    /** Events per second over the last minute, or since the start when that is later. */
    rateOf(this: void, target: ModelName): number {
      const slots = recent.get(target)
      if (slots === undefined) return 0
      const second = Math.floor(now() / 1000)
      let sum = 0
      for (let i = 0; i < RATE_SECONDS; i++)
        if (second - slots.seconds[i]! < RATE_SECONDS) sum += slots.events[i]!
      const seconds = Math.min(RATE_SECONDS, Math.max(1, (now() - startedAt) / 1000))
      return Math.round((sum / seconds) * 10) / 10
    },
  }
}

/** A slot for each second of the last minute: which second it counts, and the events in it. */
interface Recent {
  readonly seconds: number[]
  readonly events: number[]
}

const newRecent = (): Recent => ({
  seconds: Array.from({ length: RATE_SECONDS }, () => -RATE_SECONDS),
  events: Array.from({ length: RATE_SECONDS }, () => 0),
})

function count({ seconds, events }: Recent, second: number, more: number): void {
  const slot = second % RATE_SECONDS
  if (seconds[slot] !== second) events[slot] = 0
  seconds[slot] = second
  events[slot]! += more
}
