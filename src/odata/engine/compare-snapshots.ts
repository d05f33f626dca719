// One set of two published states in one engine: its rows now, under the name of the set as everywhere, and the rows of
// before, under another one.

import { limits } from '../../core/limits.ts'
import type { PublishedRelation } from '../../core/snapshot.ts'
import type { ConnectionPool, PooledConnection } from '../../duckdb/connection-pool.ts'
import { openReadOnly } from '../../duckdb/read-only.ts'
import { type EntitySet, nameBefore } from '../edm/model.ts'
import type { EngineOptions } from './snapshot-engines.ts'

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

export class SnapshotPair implements AsyncDisposable {
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
