// The engines that compare published states for delta links. Links of one set and one earlier state share an engine while
// it is in use, and there are only so many at a time: each may take its own share of memory.

import { limits } from '../../core/limits.ts'
import type { PublishedRelation } from '../../core/snapshot.ts'
import type { PooledConnection, ConnectionPool } from '../../duckdb/connection-pool.ts'
import { ClientGone, type EngineAccess } from './query.ts'
import { createAdmission, overloaded } from './admission.ts'
import type { EngineOptions } from './snapshot-engines.ts'
import { openReadOnly } from '../../duckdb/read-only.ts'
import { type EntitySet, nameBefore } from '../edm/model.ts'

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

// One set of two published states in one engine: its rows now, under the name of the set as everywhere, and the rows of
// before, under another one.

/** One delta link needs two: for its rows, and for their number. Links that share the engine get further ones. */
const CONNECTIONS = 2

/** Whether the rows of both can be compared column by column. */
export function isSameShape(now: PublishedRelation, before: PublishedRelation): boolean {
  const shapeOf = ({ key, columns }: PublishedRelation) =>
    JSON.stringify([key, columns.map(({ name, type }) => [name, type])])
  return shapeOf(now) === shapeOf(before)
}

/** The set as it is now. */
export type ComparedSet = Pick<EntitySet, 'name' | 'relation'>

class SnapshotPair implements AsyncDisposable {
  readonly #connections: ConnectionPool

  private constructor(connections: ConnectionPool) {
    this.#connections = connections
  }

  /** Throws DatabaseError when one of the files is gone or damaged. */
  static async open(
    set: ComparedSet,
    before: PublishedRelation,
    { published, threads, tempDir }: EngineOptions,
  ): Promise<SnapshotPair> {
    const files = [
      published.open(set.relation, set.name),
      published.open(before, nameBefore(set.name)),
    ]
    const memoryLimit = `${limits.comparisonBytes / 2 ** 20}MiB`
    const engine = { files, threads, memoryLimit, tempDir, connections: CONNECTIONS }
    return new SnapshotPair(await openReadOnly(engine))
  }

  connect(): Promise<PooledConnection> {
    return this.#connections.take()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections[Symbol.asyncDispose]()
  }
}
