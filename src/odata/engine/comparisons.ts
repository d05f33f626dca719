// The engines that compare published states for delta links. Links of one set and one earlier state share an engine while
// it is in use, and there are only so many at a time: each may take its own share of memory.

import { limits } from '../../core/limits.ts'
import type { PublishedRelation } from '../../core/snapshot.ts'
import type { PooledConnection } from '../../duckdb/connection-pool.ts'
import { type ComparedSet, SnapshotPair } from './compare-snapshots.ts'
import { ClientGone, type EngineAccess } from './query.ts'
import { createAdmission, overloaded } from './admission.ts'
import type { EngineOptions } from './snapshot-engines.ts'

/** A use of an engine; it is closed with the last one. */
export interface ComparisonLease extends AsyncDisposable {
  connect(): Promise<PooledConnection>
}

export interface Comparisons {
  /**
   * Waits for a slot as long as the request has time. Throws RequestError 503 when none came free; ClientGone;
   * DatabaseError when one of the files is gone or damaged.
   */
  lease(
    set: ComparedSet,
    before: PublishedRelation,
    request: Pick<EngineAccess, 'gone' | 'clock'>,
  ): Promise<ComparisonLease>
}

interface Shared {
  readonly opened: Promise<SnapshotPair>
  /** Call it when nobody uses it or waits for it. */
  readonly close: () => void
  /** Settled when it is closed. */
  readonly closed: Promise<void>
  users: number
}

export function createComparisons(options: EngineOptions): Comparisons {
  const { comparisons: running, waitingQueries: waiting } = limits
  const places = createAdmission({ running, large: running, waiting })
  const shared = new Map<string, Shared>()

  function open(set: ComparedSet, before: PublishedRelation): Shared {
    const unused = new AbortController()
    const { signal } = unused
    const left = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve(), { once: true }),
    )
    let closed = Promise.resolve()
    const opened = new Promise<SnapshotPair>((resolve, reject) => {
      const use = async () => {
        await using comparison = await SnapshotPair.open(set, before, options)
        resolve(comparison)
        await left
      }
      closed = places.run(use, { signal, begun: false, isSmall: true }).catch(reject)
    })
    return { opened, closed, close: () => unused.abort(), users: 0 }
  }

  async function leave(key: string, used: Shared): Promise<void> {
    used.users--
    if (used.users > 0) return
    shared.delete(key)
    used.close()
    await used.closed
  }

  return {
    async lease(set, before, request) {
      const key = JSON.stringify([set.name, set.relation.file, before.file])
      const used = shared.get(key) ?? open(set, before)
      shared.set(key, used)
      used.users++
      try {
        const comparison = await inTime(used.opened, request)
        let isLeft = false
        return {
          connect: () => comparison.connect(),
          async [Symbol.asyncDispose]() {
            if (isLeft) return
            isLeft = true
            await leave(key, used)
          },
        }
      } catch (error) {
        await leave(key, used)
        throw error
      }
    },
  }
}

async function inTime<T>(
  opened: Promise<T>,
  { gone, clock }: Pick<EngineAccess, 'gone' | 'clock'>,
): Promise<T> {
  const startedAt = performance.now()
  let timer: NodeJS.Timeout | undefined
  let onGone = () => {}
  const ended = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(overloaded()), Math.max(0, clock.remainingMs))
    onGone = () => reject(new ClientGone())
    if (gone.aborted) onGone()
    gone.addEventListener('abort', onGone, { once: true })
  })
  try {
    return await Promise.race([opened, ended])
  } finally {
    clearTimeout(timer)
    gone.removeEventListener('abort', onGone)
    clock.remainingMs -= performance.now() - startedAt
  }
}
