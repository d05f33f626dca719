// How the buffer is, as JSON (docs/collect.md, Watching the daemon). Counts only: no field tells the state of an event.

import { statfs } from 'node:fs/promises'
import type { EventBuffer } from '../buffer/buffer.ts'
import { limits } from '../core/limits.ts'
import type { ModelName } from '../core/names.ts'
import { hasToken } from '../http/auth.ts'
import { sendJson } from '../http/respond.ts'
import type { Handler } from '../http/server.ts'
import { requireMethod } from './path.ts'
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

export type Health = Served['models'] & Totals

interface Totals {
  readonly status: 'ok' | 'unavailable'
  readonly events: number
  readonly bytes: number
  readonly oldest: string | null
  readonly disk_free_bytes: number
  readonly targets: readonly Backlog[]
}

/** What the daemon knows about itself. */
export interface Vitals {
  readonly buffer: EventBuffer
  /** Real path of the buffer's directory. */
  readonly bufferDir: string
  readonly served: Served
  readonly traffic: Traffic
}

export function backlogOf({ buffer, served, traffic }: Vitals): readonly Backlog[] {
  const { targets } = buffer.stats()
  return [...new Set([...served.validators.keys(), ...targets.keys()])].map((target) => {
    const { buffered = 0, claimed = 0, bytes = 0, oldest = null } = targets.get(target) ?? {}
    const events = buffered + claimed
    return { target, events, inflight: claimed, bytes, oldest, rate: traffic.rateOf(target) }
  })
}

/** `unavailable` (503) while the buffer accepts nothing. */
export async function healthOf(vitals: Vitals): Promise<Health> {
  const { buffer, bufferDir, served } = vitals
  const { bytes, writable } = buffer.stats()
  const targets = backlogOf(vitals)
  // It is missing when somebody has deleted it, and nothing that comes in would last.
  const disk = await statfs(bufferDir).catch(() => null)
  return {
    status: writable && disk !== null ? 'ok' : 'unavailable',
    ...served.models,
    events: targets.reduce((total, backlog) => total + backlog.events, 0),
    bytes,
    oldest:
      targets
        .map(({ oldest }) => oldest)
        .filter((time) => time !== null)
        .toSorted()[0] ?? null,
    disk_free_bytes: disk === null ? 0 : disk.bavail * disk.bsize,
    targets,
  }
}

/** GET /health of the public port. Needs no token, as load balancers have none; who shows it sees the details too. */
export function publicHealth(vitals: Vitals, token: string | null): Handler {
  return async (request, response) => {
    requireMethod(request.method, ['GET', 'HEAD'])
    const { targets, disk_free_bytes, ...totals } = await healthOf(vitals)
    const body = hasToken(request, token) ? { ...totals, disk_free_bytes, targets } : totals
    if (totals.status === 'ok') return sendJson(response, 200, body)
    const message = 'the buffer accepts no events at the moment'
    const headers = { 'Retry-After': String(limits.retryAfterSeconds) }
    sendJson(response, 503, { ...body, error: { code: 'buffer-unavailable', message } }, headers)
  }
}
