// How the buffer is, as JSON. Counts only: the interface has no field for a state (row E023).

import type { EventBuffer } from '../buffer/buffer.ts'
import type { ModelName } from '../core/names.ts'
import type { ModelsState } from './targets.ts'

export interface Backlog {
  readonly target: ModelName
  /** Accepted and not yet removed by a flush, with those in flight. */
  readonly events: number
  readonly inflight: number
  readonly bytes: number
  /** Acceptance of the oldest event, ISO 8601. */
  readonly oldest: string | null
}

export type Health = ModelsState & Totals

interface Totals {
  readonly status: 'ok' | 'unavailable'
  readonly events: number
  readonly bytes: number
  readonly targets: readonly Backlog[]
}

export function backlogOf(buffer: EventBuffer, known: Iterable<ModelName>): readonly Backlog[] {
  const { targets } = buffer.stats()
  return [...new Set([...known, ...targets.keys()])].map((target) => {
    const { buffered = 0, claimed = 0, bytes = 0, oldest = null } = targets.get(target) ?? {}
    return { target, events: buffered + claimed, inflight: claimed, bytes, oldest }
  })
}

/** `unavailable` (503) while the buffer takes nothing. */
export function healthOf(
  buffer: EventBuffer,
  known: Iterable<ModelName>,
  models: ModelsState,
): Health {
  const { bytes, writable } = buffer.stats()
  const targets = backlogOf(buffer, known)
  const events = targets.reduce((total, backlog) => total + backlog.events, 0)
  return { status: writable ? 'ok' : 'unavailable', ...models, events, bytes, targets }
}
