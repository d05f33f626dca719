// How the buffer is, as JSON (docs/collect/operating.md, Health). Counts only: no field tells the state of an event.

import { statfs } from 'node:fs/promises'
import { limits } from '../core/limits.ts'
import { sendJson } from '../http/respond.ts'
import type { Handler } from '../http/server.ts'
import { backlogOf, type Vitals } from './backlog.ts'
import { requireMethod } from './path.ts'
import { seesAll } from './senders.ts'

export type Health = Awaited<ReturnType<typeof healthOf>>

/** `unavailable` (503) while the buffer accepts nothing. */
export async function healthOf(vitals: Vitals) {
  const { buffer, bufferDir, served } = vitals
  const { bytes, writable } = buffer.stats()
  const targets = backlogOf(vitals)
  const runs = await vitals.lastRun()
  // It is missing when somebody has deleted it, and nothing that comes in would last.
  const disk = await statfs(bufferDir).catch(() => null)
  return {
    status: writable && disk !== null ? 'ok' : 'unavailable',
    ...served.models,
    events: targets.reduce((total, backlog) => total + backlog.events, 0),
    bytes,
    oldest: targets.flatMap(({ oldest }) => oldest ?? []).toSorted()[0] ?? null,
    disk_free_bytes: disk === null ? 0 : disk.bavail * disk.bsize,
    targets,
    ...(runs === null ? {} : { runs }),
  }
}

/** GET /health of the public port. Needs no token, as load balancers have none; who shows one for all targets sees the details too. */
export function publicHealth(vitals: Vitals): Handler {
  return async (request, response) => {
    requireMethod(request.method, ['GET', 'HEAD'])
    const { targets, disk_free_bytes, ...totals } = await healthOf(vitals)
    const body = (await seesAll(vitals.served.senders, request))
      ? { ...totals, disk_free_bytes, targets }
      : totals
    if (totals.status === 'ok') return sendJson(response, 200, body)
    const message = 'the buffer accepts no events at the moment'
    const headers = { 'Retry-After': String(limits.retryAfterSeconds) }
    sendJson(response, 503, { ...body, error: { code: 'buffer-unavailable', message } }, headers)
  }
}
