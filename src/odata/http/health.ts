// GET /health of the service.

import type { Snapshots } from '../engine/current-snapshot.ts'

/** `stale`: the newest snapshot is damaged or cannot be opened. `failed`: the same, and there is none before it. */
export function health({ published, isRefused }: Snapshots) {
  const status = !isRefused ? 'ok' : published === null ? 'failed' : 'stale'
  return {
    status,
    snapshot: published?.id ?? null,
    published_at: published?.publishedAt.toISOString() ?? null,
    run_id: published?.runId ?? null,
  }
}
