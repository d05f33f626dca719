// The engines that compare published states for delta links: one set in two of them, its rows now under the name of the set
// as everywhere, and the rows of before under another one. Links of one set and one earlier state share an engine while
// it is in use, and there are only so many at a time: each may take its own share of memory.

import { once } from 'node:events'
import { limits } from '../../core/limits.ts'
import { Resources } from '../../core/resources.ts'
import { type PublishedRelation, rowsInAnyOrder, type TableName } from '../../core/snapshot.ts'
import type { ConnectionPool, PooledConnection } from '../../duckdb/connection-pool.ts'
import { openReadOnly } from '../../duckdb/read-only.ts'
import { type EntitySet, nameBefore } from '../edm/model.ts'
import { createAdmission } from './admission.ts'
import { type EngineAccess, unlessGone } from './query.ts'
import type { EngineOptions } from './snapshot-engines.ts'

/** The set as it is now. */
export type ComparedSet = Pick<EntitySet, 'name' | 'relation'>

/** A use of an engine; it is closed with the last one. */
export interface ComparisonLease extends AsyncDisposable {
  /** The rows of before. */
  readonly tableBefore: TableName
  connect(): Promise<PooledConnection>
}

interface Shared {
  readonly opened: Promise<ConnectionPool>
  /** Call it when nobody uses it or waits for it. */
  readonly close: () => Promise<void>
  users: number
}

export type Comparisons = ReturnType<typeof createComparisons>

export function createComparisons(options: EngineOptions) {
  const { comparisons: running, waitingQueries: waiting } = limits
  const places = createAdmission({ running, large: running, waiting })
  const shared = new Map<string, Shared>()

  function open(set: ComparedSet, before: PublishedRelation): Shared {
    const unused = new AbortController()
    const { signal } = unused
    const left = once(signal, 'abort')
    let closed = Promise.resolve()
    const opened = new Promise<ConnectionPool>((resolve, reject) => {
      const use = async () => {
        await using pool = await openBoth(set, before, options)
        resolve(pool)
        await left
      }
      closed = places.run(use, { signal, begun: false, isSmall: true }).catch(reject)
    })
    const close = () => {
      unused.abort()
      return closed
    }
    return { opened, close, users: 0 }
  }

  async function leave(key: string, used: Shared): Promise<void> {
    used.users--
    if (used.users > 0) return
    shared.delete(key)
    await used.close()
  }

  return {
    /**
     * Waits for a slot as long as the request has time. Throws RequestError 503 when none came free; ClientGone;
     * DatabaseError when one of the files is gone or damaged.
     */
    async lease(
      set: ComparedSet,
      before: PublishedRelation,
      { gone, clock }: Pick<EngineAccess, 'gone' | 'clock'>,
    ): Promise<ComparisonLease> {
      const key = JSON.stringify([set.name, set.relation.file, before.file])
      const used = shared.get(key) ?? open(set, before)
      shared.set(key, used)
      used.users++
      await using resources = new Resources()
      resources.defer(() => leave(key, used))
      const pool = await unlessGone(used.opened, gone, clock)
      const tableBefore = rowsInAnyOrder(options.published.rows, before, nameBefore(set.name))
      return Object.assign(resources.move(), { tableBefore, connect: () => pool.take() })
    },
  }
}

/** One delta link needs two: for its rows, and for their number. Links that share the engine get further ones. */
const CONNECTIONS = 2

/** Throws DatabaseError when one of the files is gone or damaged. */
function openBoth(
  set: ComparedSet,
  before: PublishedRelation,
  { published, threads, tempDir }: EngineOptions,
): Promise<ConnectionPool> {
  const files = [
    published.open(set.relation, set.name),
    published.open(before, nameBefore(set.name)),
  ]
  const memoryLimit = `${limits.comparisonBytes / 2 ** 20}MiB`
  return openReadOnly({ files, threads, memoryLimit, tempDir, connections: CONNECTIONS })
}

/** Whether the rows of both can be compared column by column. */
export function isSameShape(now: PublishedRelation, before: PublishedRelation): boolean {
  const shapeOf = ({ key, columns }: PublishedRelation) =>
    JSON.stringify([key, columns.map(({ name, type }) => [name, type])])
  return shapeOf(now) === shapeOf(before)
}
