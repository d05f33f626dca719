// A second engine of a snapshot, whose threads share one query: for those that read so many rows that one thread would
// take long. It is made when the first of them comes, which goes to the other engine meanwhile.

import { type AttachedFile, type EngineSettings, openReadOnly } from '../../duckdb/read-only.ts'
import type { ConnectionPool, PooledConnection } from '../../duckdb/connection-pool.ts'

export class SharedEngine implements AsyncDisposable {
  readonly #settings: EngineSettings | null
  readonly #files: readonly AttachedFile[]
  #opening: Promise<ConnectionPool | null> | null = null
  #pool: ConnectionPool | null = null

  /** `settings`: null where there is one processor, and so nothing to share. */
  constructor(settings: EngineSettings | null, files: readonly AttachedFile[]) {
    this.#settings = settings
    this.#files = files
  }

  /** A connection for one query; null while there is none, or when it could not be opened: the other engine answers. */
  async take(): Promise<PooledConnection | null> {
    const settings = this.#settings
    if (settings === null) return null
    this.#opening ??= openReadOnly({ ...settings, files: this.#files })
      .then((pool) => (this.#pool = pool))
      .catch(() => null)
    return (await this.#pool?.take()) ?? null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#opening)?.[Symbol.asyncDispose]()
  }
}
