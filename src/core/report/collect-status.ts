// What `eider collect status` says.

import type { ModelName } from '../names.ts'
import type { DamagedEvents } from './damaged-events.ts'

export interface CollectStatus {
  /** Whether a daemon has answered; without one the buffer was read on disk. */
  readonly daemon: boolean
  readonly targets: readonly TargetStatus[]
  /** Files with events that have changed on disk; left out where there are none. */
  readonly damaged?: readonly DamagedEvents[]
  /** Why no number of rejected events is known; null when it is. */
  readonly rejected_unknown: string | null
}

export interface TargetStatus {
  readonly target: ModelName
  /** Events that wait for a run, and those in the hands of one. */
  readonly buffered: number
  readonly claimed: number
  /** On disk, of both. */
  readonly bytes: number
  /** Acceptance of the oldest event, ISO 8601. */
  readonly oldest: string | null
  /** Events in _eider.rejected_events; null when the warehouse could not be read. */
  readonly rejected: number | null
  /** Events per second over the last minute; null without a daemon. */
  readonly rate: number | null
}
