// Pooled connections of one engine, each for one query at a time.
//
// When all are in use, as by clients that read slowly, a query gets a new connection with the same settings. An
// engine that is locked by then must allow them to be changed.

import type { Resources } from '../core/resources.ts'
import type { Sql } from '../core/sql.ts'
import type { Connection, Database } from './database.ts'

interface PoolOptions {
  readonly size: number
  /** Run on each connection. */
  readonly settings: readonly Sql[]
  /** What the pool then owns, including the database. */
  readonly resources: Resources
}

export class ConnectionPool implements AsyncDisposable {
  readonly #database: Database
  readonly #free: Connection[]
  readonly #settings: readonly Sql[]
  readonly #resources: Resources

  private constructor(
    database: Database,
    free: Connection[],
    { settings, resources }: Omit<PoolOptions, 'size'>,
  ) {
    this.#database = database
    this.#free = free
    this.#settings = settings
    this.#resources = resources
  }

  static async open(
    database: Database,
    { size, settings, resources }: PoolOptions,
  ): Promise<ConnectionPool> {
    const connections = Array.from({ length: size }, () => connect(database, settings))
    const free = await Promise.all(connections)
    return new ConnectionPool(database, free, { settings, resources: resources.move() })
  }

  get free(): number {
    return this.#free.length
  }

  async take(): Promise<PooledConnection> {
    const connection = this.#free.pop()
    if (connection !== undefined)
      return new PooledConnection(connection, () => this.#back(connection))
    const extra = await connect(this.#database, this.#settings)
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
