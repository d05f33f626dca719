// What of each target waits for a flush: the answer to GET /flush, which a run asks for (docs/collect/flush-api.md).

import type { EventBuffer } from '../buffer/buffer.ts'
import type { ModelName } from '../core/names.ts'
import type { Served } from './targets.ts'
import type { Traffic } from './traffic.ts'

export interface Backlog {
  readonly target: ModelName
  /** Accepted and not yet removed by a flush, with those in flight. */
  readonly events: number
  readonly inflight: number
  readonly bytes: number
  /** Acceptance of the oldest event, ISO 8601. */
  readonly oldest: string | null
  /** Events accepted per second over the last minute. */
  readonly rate: number
}

export interface Vitals {
  readonly buffer: EventBuffer
  /** Real path of the buffer's directory. */
  readonly bufferDir: string
  readonly served: Served
  readonly traffic: Traffic
  readonly lastRun: () => Promise<LastRun | null>
}

/** The last run that `eider up` has started. */
export interface LastRun {
  readonly last: string
  readonly at: string
}

export function backlogOf({ buffer, served, traffic }: Vitals): readonly Backlog[] {
  const { targets } = buffer.stats()
  return [...new Set([...served.validators.keys(), ...targets.keys()])].map((target) => {
    const { buffered = 0, claimed = 0, bytes = 0, oldest = null } = targets.get(target) ?? {}
    const events = buffered + claimed
    return { target, events, inflight: claimed, bytes, oldest, rate: traffic.rateOf(target) }
  })
}
