// A database and its connections. The only access to DuckDB, and it takes `Sql`, never text.
//
// An open .duckdb file must not be opened, copied or hashed through the file system by this process: DuckDB's lock
// is a POSIX lock, and closing any descriptor of the file drops it.

import {
  type DuckDBConnection,
  DuckDBInstance,
  type DuckDBPreparedStatement,
  type DuckDBValue,
} from '@duckdb/node-api'
import { type ExtensionLock, withRequired } from '../core/extensions.ts'
import type { HiddenValue } from '../core/hidden.ts'
import type { InTurn } from '../core/in-turn.ts'
import { keepUntilExit } from '../core/until-exit.ts'
import { Resources } from '../core/resources.ts'
import { type Column, columnType } from '../core/relation.ts'
import { type Sql, sql } from '../core/sql.ts'
import { openWithChecked } from './checked-extensions.ts'
import { readValuesAsTheyAre } from './driver-values.ts'
import { engineConfig, type OpenOptions } from './engine-config.ts'
import { ErrorWords, isFatal, isInterrupt, ownError, refusalOf, toDatabaseError } from './errors.ts'
import { extensionError, requireLocked } from './extension-files.ts'
import { nameSync } from './name-sync.ts'
import { type Row, textOf } from './values.ts'

readValuesAsTheyAre()

/** A database file (or memory) opened by this process. Throws DatabaseError when it is locked or damaged. */
export class Database implements AsyncDisposable {
  readonly #instance: DuckDBInstance
  readonly #syncNames: () => Promise<void>
  readonly #connections = new Set<Connection>()
  readonly #kept: Connection[] = []
  #onConnect: readonly Sql[] = []
  #explain: (error: unknown) => unknown = (error) => error
  readonly #connecting = new Set<Promise<unknown>>()
  readonly #deferred = new Resources()
  readonly #words = new ErrorWords()
  readonly #lock: ExtensionLock | null
  readonly #hasServers: boolean
  #isBroken = false
  #closed = false

  private constructor(
    instance: DuckDBInstance,
    syncNames: () => Promise<void>,
    { extensions, hasServers = false }: OpenOptions,
  ) {
    this.#instance = instance
    this.#lock = extensions?.lock ?? null
    this.#hasServers = hasServers
    this.#syncNames = syncNames
  }

  static open(options: OpenOptions): Promise<Database> {
    return openWithChecked(options.extensions, (isChecked) => Database.#open(options, isChecked))
  }

  /** `isChecked`: the signatures of its extensions are known to be valid. */
  static async #open(options: OpenOptions, isChecked: boolean): Promise<Database> {
    const config = engineConfig(options, isChecked)
    await using resources = new Resources()
    const instance = await attempt(DuckDBInstance.create(options.path, config))
    resources.defer(() => instance.closeSync())
    const isWritten = options.path !== ':memory:' && options.readOnly !== true
    const syncNames = isWritten ? nameSync(options.path) : () => Promise.resolve()
    await syncNames()
    const database = new Database(instance, syncNames, options)
    {
      await using connection = await database.connect()
      await connection.run(sql`SET GLOBAL TimeZone = 'UTC'`)
      await connection.loadExtensions(options.extensions?.names ?? [])
      if (isChecked) await connection.run(sql`SET GLOBAL allow_unsigned_extensions = false`)
    }
    resources.move()
    return database
  }

  /** `first` is run on a new connection; by default what onConnect() says. */
  async connect(first?: readonly Sql[]): Promise<Connection> {
    // A query that comes too late ends as one that was interrupted when the engine was closed.
    if (this.#closed) throw ownError('INTERRUPT', 'DuckDB is closed')
    const kept = first === undefined ? this.#kept.pop() : undefined
    if (kept !== undefined) return kept
    const driver = await this.#newDriver()
    const connection = new Connection(driver, this.#syncNames, {
      onClose: () => this.#connections.delete(connection),
      explain: (error) => {
        this.#isBroken ||= this.#hasServers && isFatal(error)
        return this.#explain(error)
      },
      isBroken: () => this.#isBroken,
      hasServers: this.#hasServers,
      words: this.#words,
      lock: this.#lock,
    })
    this.#connections.add(connection)
    const statements = first ?? this.#onConnect
    if (statements.length > 0) await connection.run(sql.join(statements, sql`;\n`))
    return connection
  }

  /** Where the engine is closed before the driver has made a connection, the process ends. */
  async #newDriver(): Promise<DuckDBConnection> {
    const made = attempt(this.#instance.connect())
    this.#connecting.add(made)
    try {
      return await made
    } finally {
      this.#connecting.delete(made)
    }
  }

  /** The next connect() takes this connection, on which the statements of onConnect() have been run. */
  keep(connection: Connection): void {
    this.#kept.push(connection)
  }

  /** Each connection that is opened from now on runs these first. */
  onConnect(statements: readonly Sql[]): void {
    this.#onConnect = statements
  }

  /** From now on no error of any connection repeats them. */
  hide(values: readonly HiddenValue[]): void {
    this.#words.hide(values)
  }

  /** From now on `explain` is asked first what an error of any connection means; null: it does not know. */
  explain(explain: (message: string) => string | null): void {
    this.#words.explain(explain)
  }

  /** From now on its connections throw what this makes of an error. For reading only: who writes looks at errors. */
  explainBy(explain: (error: unknown) => unknown): void {
    this.#explain = explain
  }

  /** Before it is closed: what is left to the engine blocks this thread. */
  defer(work: () => Promise<void>): void {
    this.#deferred.defer(work)
  }

  /** Closes all connections; statements still running end as if interrupted. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#deferred[Symbol.asyncDispose]()
    await Promise.allSettled(this.#connecting)
    for (const connection of this.#connections) await connection[Symbol.asyncDispose]()
    if (this.#isBroken) keepUntilExit(this.#instance)
    else this.#instance.closeSync()
  }
}

interface TransactOptions {
  /** What the transaction does before the work. */
  readonly first?: () => Promise<void>
  /** For its beginning, `first` included, and its COMMIT. */
  readonly inTurn?: InTurn
}

const atOnce: InTurn = (work) => work()

interface ConnectionOwner {
  readonly words: ErrorWords
  readonly lock: ExtensionLock | null
  onClose(): void
  explain(error: unknown): unknown
  /** It must not be closed. */
  isBroken(): boolean
  readonly hasServers: boolean
}

export class Connection implements AsyncDisposable {
  /** For files in this directory that read vectors; nothing else touches the driver. */
  readonly driver: DuckDBConnection
  readonly #syncNames: () => Promise<void>
  readonly #owner: ConnectionOwner
  readonly #running = new Set<Promise<unknown>>()
  #closed = false

  constructor(driver: DuckDBConnection, syncNames: () => Promise<void>, owner: ConnectionOwner) {
    this.driver = driver
    this.#syncNames = syncNames
    this.#owner = owner
  }

  /** One statement with literals in its text; for DDL, SET, ATTACH, COPY and the like. Returns the rows changed. */
  async run(statement: Sql): Promise<number> {
    const result = await this.attempt(() => this.driver.run(statement.inline()))
    return result.rowsChanged
  }

  /**
   * For all connections of the engine, from its directory of extensions, with those that they need. What is loaded
   * already stays so. Throws ExtensionError.
   */
  async loadExtensions(names: Iterable<string>): Promise<void> {
    for (const name of withRequired(names)) {
      const { lock } = this.#owner
      if (lock !== null) await requireLocked(name, await this.#extensions(), lock)
      const refusal = await refusalOf(this.run(sql`LOAD ${sql.ident(name)}`))
      if (refusal !== null) throw extensionError(name, await this.#extensions(), refusal)
    }
  }

  async #extensions(): Promise<string> {
    const row = await this.row(sql`SELECT current_setting('extension_directory') AS directory`)
    return textOf(row?.['directory'])
  }

  /**
   * CREATE TABLE … AS. Returns the rows of the table, which the driver takes for a result: one row, read as it lies in
   * memory, since a reader of results costs a third of a small table. null where DuckDB does not say, as of a PIVOT.
   */
  async createTable(statement: Sql): Promise<number | null> {
    const result = await this.attempt(() => this.driver.run(statement.inline()))
    if (result.columnCount === 0 || result.chunkCount === 0) return null
    return Number(result.getChunk(0).getColumnVector(0).getItem(0))
  }

  /**
   * All rows of one statement as JSON values: BIGINT, HUGEINT and DECIMAL are strings, dates and times are strings.
   * For results that are known to be small.
   */
  async rows(statement: Sql): Promise<readonly Row[]> {
    const { text, values } = statement.prepare()
    // Without parameters there is nothing to prepare, which would take two more round trips.
    return this.#read(text, values.length === 0 ? undefined : [...values])
  }

  /** The same with literals in the text: parameters are not yet known to what DuckDB plans. */
  async literalRows(statement: Sql): Promise<readonly Row[]> {
    return this.#read(statement.inline(), undefined)
  }

  async #read(text: string, parameters: DuckDBValue[] | undefined): Promise<readonly Row[]> {
    const reader = await this.attempt(() => this.driver.runAndReadAll(text, parameters))
    const names = reader.deduplicatedColumnNames()
    // The driver assigns values by name, which of this one sets the prototype of the row.
    if (!names.includes('__proto__')) return reader.getRowObjectsJson()
    return reader
      .getRowsJson()
      .map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]!])))
  }

  /**
   * Does what rows() does, for any number of rows of texts and booleans, in no order: numbers would go through a
   * double. DuckDB writes them as one JSON text, which takes a third of the time to read.
   */
  async texts(statement: Sql): Promise<readonly Row[]> {
    const all = await this.row(
      sql`SELECT to_json(list(r))::VARCHAR AS json FROM (${statement}) AS r`,
    )
    return JSON.parse(textOf(all?.['json'] ?? '[]')) as readonly Row[]
  }

  async row(statement: Sql): Promise<Row | null> {
    const [first] = await this.rows(statement)
    return first ?? null
  }

  /**
   * Names and types of the columns that a query returns, without running it. A named type, such as JSON,
   * is returned as the type underneath; `describe` of catalog.ts keeps the name.
   */
  async columnsOf(query: Sql): Promise<readonly Column[]> {
    const statement = await this.attempt(() => this.driver.prepare(query.inline()))
    try {
      return Array.from({ length: statement.columnCount }, (_, i) => columnOf(statement, i))
    } finally {
      statement.destroySync()
    }
  }

  /**
   * COMMIT when `work` returns, ROLLBACK when it throws. Transactions do not nest. What was committed survives a power cut:
   * DuckDB syncs its write-ahead log, which it may recreate at any time, but not the directory that names it.
   */
  async transact<T>(
    work: () => Promise<T>,
    { first, inTurn = atOnce }: TransactOptions = {},
  ): Promise<T> {
    let result: T
    try {
      await inTurn(async () => {
        await this.run(sql`BEGIN TRANSACTION`)
        await first?.()
      })
      result = await work()
      await inTurn(() => this.run(sql`COMMIT`))
    } catch (error) {
      await this.#rollBack()
      throw error
    }
    await this.#syncNames()
    return result
  }

  /** An interrupt may hit the ROLLBACK too: until one is carried out, the connection refuses every other statement. */
  async #rollBack(run: () => Promise<unknown> = () => this.run(sql`ROLLBACK`)): Promise<void> {
    for (;;) {
      try {
        await run()
        return
      } catch (error) {
        // A failed transaction may be gone already, and the connection may be closed.
        if (!isInterrupt(error)) return
      }
    }
  }

  /** Ends the running statement with an Interrupt error. Harmless when none runs. */
  interrupt(): void {
    if (!this.#closed) this.driver.interrupt()
  }

  /**
   * Runs a call of the driver. Every call goes through here: closing a connection under a running call ends the process
   * with a segmentation fault, so closing waits for them. Throws DatabaseError.
   */
  attempt<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new Error('the connection is closed'))
    return this.#call(call)
  }

  async #call<T>(call: () => Promise<T>): Promise<T> {
    const running = attempt(call(), this.#owner.words)
    this.#running.add(running)
    try {
      return await running
    } catch (error) {
      throw this.#owner.explain(error)
    } finally {
      this.#running.delete(running)
    }
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Interrupts what still runs and waits for its end. The connection can be used again. */
  async interruptAndWait(): Promise<void> {
    if (this.#running.size > 0) this.interrupt()
    await Promise.allSettled(this.#running)
  }

  /** Interrupts what still runs, waits for its end, closes. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return
    const ended = this.interruptAndWait()
    this.#closed = true
    await ended
    if (this.#owner.hasServers)
      await this.#rollBack(() => this.#call(() => this.driver.run('ROLLBACK')))
    if (this.#owner.isBroken()) keepUntilExit(this.driver)
    else this.driver.closeSync()
    this.#owner.onClose()
  }
}

function columnOf(statement: DuckDBPreparedStatement, index: number): Column {
  return {
    name: statement.columnName(index),
    type: columnType(String(statement.columnType(index))),
    nullable: true,
  }
}

async function attempt<T>(promise: Promise<T>, words?: ErrorWords): Promise<T> {
  try {
    return await promise
  } catch (error) {
    throw words?.reword(error) ?? toDatabaseError(error)
  }
}
