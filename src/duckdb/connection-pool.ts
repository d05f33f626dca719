// Pooled connections of one engine, each for one query at a time.
//
// A connection is opened when a query finds none that is free, and stays open afterwards: an engine that is replaced before
// anybody asks it has opened one or two of them. Clients that read slowly may occupy any number; of those that are free, no
// more than the size of the pool stay. An engine that is locked by then must allow the settings to be changed.

import type { Resources } from '../core/resources.ts'
import type { Sql } from '../core/sql.ts'
import type { Connection, Database } from './database.ts'

interface PoolOptions {
  /** Free connections that stay open. */
  readonly size: number
  /** Run on each connection. */
  readonly settings: readonly Sql[]
  /** What the pool then owns, including the database. */
  readonly resources: Resources
}

export class ConnectionPool implements AsyncDisposable {
  readonly #database: Database
  readonly #free: Connection[] = []
  readonly #size: number
  readonly #settings: readonly Sql[]
  readonly #resources: Resources

  constructor(database: Database, { size, settings, resources }: PoolOptions) {
    this.#database = database
    this.#size = size
    this.#settings = settings
    this.#resources = resources.move()
  }

  get free(): number {
    return this.#free.length
  }

  async take(): Promise<PooledConnection> {
    const connection = this.#free.pop() ?? (await connect(this.#database, this.#settings))
    return new PooledConnection(connection, () => this.#back(connection))
  }

  /** Closes the engine with all its connections; queries that still run end as if interrupted. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources[Symbol.asyncDispose]()
  }

  async #back(connection: Connection): Promise<void> {
    if (connection.isClosed) return
    if (this.#free.length < this.#size) this.#free.push(connection)
    else await connection[Symbol.asyncDispose]()
  }
}

async function connect(database: Database, settings: readonly Sql[]): Promise<Connection> {
  const connection = await database.connect()
  try {
    for (const setting of settings) await connection.run(setting)
    return connection
  } catch (error) {
    await connection[Symbol.asyncDispose]()
    throw error
  }
}

/** A connection for exclusive use by one query until it is disposed of. */
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
