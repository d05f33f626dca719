// The bodies of the admin port, for the daemon that writes them and the client that reads them.

import { splitModelName, type ModelName } from '../../core/names.ts'
import type { Backlog } from '../backlog.ts'

/** How the admin port identifies itself, so that a run does not mistake another program for it. */
export const SERVICE = 'eider-collect-admin'

export interface AdminHealth {
  readonly service: typeof SERVICE
  readonly status: 'ok' | 'unavailable'
  /** Real path of the buffer's directory: which project this daemon collects for. */
  readonly buffer: string
}

/** An open claim. Times are ISO 8601 in UTC. */
export interface ClaimBody {
  /** `<schema>.<table>/<segment>` */
  readonly claim_id: string
  readonly target: ModelName
  readonly events: number
  readonly bytes: number
  /** Absolute path of the segment, to be read in place. */
  readonly path: string
  readonly first_seq: number
  readonly last_seq: number
  /** Acceptance of the first and the last event. */
  readonly oldest: string
  readonly newest: string
  /** Number of the oldest segment that the buffer still has. */
  readonly oldest_segment: number
  /** Which opening of the buffer made the segment. */
  readonly opening: number
  /** Name of the daemon's machine. */
  readonly collector: string
}

export interface InflightBody {
  readonly claims: readonly (ClaimBody & { readonly claimed_at: string })[]
}

export interface TargetsBody {
  readonly targets: readonly Backlog[]
}

export function flushPath(target: ModelName, ...rest: readonly string[]): string {
  const { schema, table } = splitModelName(target)
  return `/flush/${[schema, table, ...rest].map(encodeURIComponent).join('/')}`
}
