// Connections of one engine that are used again, one query at a time.
//
// They are opened and set up before the engine is locked, since the settings of a connection cannot be changed after
// that. When all are in use, as by clients that read slowly, a query gets a connection of its own without the settings:
// its answer is the same, it only makes the caller wait a little longer for each part of it.

import type { Resources } from '../core/resources.ts'
import type { Sql } from '../core/sql.ts'
import type { Connection, Database } from './database.ts'

export interface PoolOptions {
  readonly size: number
  /** Run on each connection. */
  readonly settings: readonly Sql[]
  /** What the pool then owns, the database among it. */
  readonly resources: Resources
}

export class ConnectionPool implements AsyncDisposable {
  readonly #database: Database
  readonly #free: Connection[]
  readonly #resources: Resources

  private constructor(database: Database, free: Connection[], resources: Resources) {
    this.#database = database
    this.#free = free
    this.#resources = resources
  }

  static async open(
    database: Database,
    { size, settings, resources }: PoolOptions,
  ): Promise<ConnectionPool> {
    const connections = Array.from({ length: size }, async () => {
      const connection = await database.connect()
      for (const setting of settings) await connection.run(setting)
      return connection
    })
    return new ConnectionPool(database, await Promise.all(connections), resources.move())
  }

  /** Connections that wait for a query. */
  get free(): number {
    return this.#free.length
  }

  async take(): Promise<PooledConnection> {
    const connection = this.#free.pop()
    if (connection !== undefined)
      return new PooledConnection(connection, () => this.#back(connection))
    const extra = await this.#database.connect()
    return new PooledConnection(extra, () => extra[Symbol.asyncDispose]())
  }

  /** Closes the engine with all its connections; queries that still run end as if interrupted. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources[Symbol.asyncDispose]()
  }

  #back(connection: Connection): Promise<void> {
    if (!connection.isClosed) this.#free.push(connection)
    return Promise.resolve()
  }
}

/** A connection that is one query's alone until it is disposed of. */
export class PooledConnection implements AsyncDisposable {
  readonly connection: Connection
  readonly #giveBack: () => Promise<void>
  #given = false

  constructor(connection: Connection, giveBack: () => Promise<void>) {
    this.connection = connection
    this.#giveBack = giveBack
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#given) return
    this.#given = true
    await this.#giveBack()
  }
}
