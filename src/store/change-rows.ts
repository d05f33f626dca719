// Rows of the tables of changes on their way there: those of a transaction wait for its end, and are then written by one
// statement for each table. To plan a statement costs as much as to build a small model, which had five of them.

import { foldCase, type ModelName } from '../core/names.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'

export type ChangeTable = 'changes' | 'changed_keys' | 'followers'

/** Without the number that rows of some tables begin with. */
type SavedRow = readonly (string | boolean | null)[]

interface Waiting {
  readonly changes: SavedRow[]
  readonly changed_keys: SavedRow[]
  /** By the reader in lower case. */
  readonly followers: Map<string, readonly SavedRow[]>
}

const nothing = (): Waiting => ({ changes: [], changed_keys: [], followers: new Map() })

export class ChangeRows {
  readonly #waiting = new WeakMap<Connection, Waiting>()
  readonly #table: (name: ChangeTable) => Sql

  constructor(table: (name: ChangeTable) => Sql) {
    this.#table = table
  }

  /** The work of a transaction; when it throws, the transaction is to be rolled back. */
  async together<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
    this.#waiting.set(connection, nothing())
    try {
      const result = await work()
      await this.write(connection)
      return result
    } finally {
      this.#waiting.delete(connection)
    }
  }

  /** Before anything is read that the transaction may have recorded. */
  async write(connection: Connection): Promise<void> {
    const waiting = this.#waiting.get(connection)
    if (waiting === undefined) return
    this.#waiting.set(connection, nothing())
    const { changes, changed_keys: keys, followers } = waiting
    await this.#insert(connection, 'changes', changes)
    await this.#insert(connection, 'changed_keys', keys)
    await this.#replaceFollowers(connection, followers)
  }

  async add(
    connection: Connection,
    name: Exclude<ChangeTable, 'followers'>,
    rows: readonly SavedRow[],
  ): Promise<void> {
    const waiting = this.#waiting.get(connection)?.[name]
    if (waiting === undefined) await this.#insert(connection, name, rows)
    else waiting.push(...rows)
  }

  /** Behind those that it has. */
  async addFollower(connection: Connection, rows: readonly SavedRow[]): Promise<void> {
    await this.#insertAtOnce(connection, 'followers', rows)
  }

  /** In place of those that it has. */
  async replaceFollower(
    connection: Connection,
    reader: ModelName,
    rows: readonly SavedRow[],
  ): Promise<void> {
    const waiting = this.#waiting.get(connection)
    if (waiting !== undefined) waiting.followers.set(foldCase(reader), rows)
    else await this.#replaceFollowers(connection, new Map([[foldCase(reader), rows]]))
  }

  async #replaceFollowers(connection: Connection, followers: Waiting['followers']): Promise<void> {
    if (followers.size === 0) return
    const own = sql`lower(reader) IN (${sql.values([...followers.keys()])})`
    await connection.run(sql`DELETE FROM ${this.#table('followers')} WHERE ${own}`)
    // All of one reader have one number.
    let rows: SavedRow[] = []
    for (const some of followers.values()) {
      if (rows.length + some.length > ROWS_AT_ONCE) {
        await this.#insertAtOnce(connection, 'followers', rows)
        rows = []
      }
      rows.push(...some)
    }
    await this.#insertAtOnce(connection, 'followers', rows)
  }

  async #insert(
    connection: Connection,
    name: ChangeTable,
    rows: readonly SavedRow[],
  ): Promise<void> {
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
      await this.#insertAtOnce(connection, name, rows.slice(at, at + ROWS_AT_ONCE))
  }

  async #insertAtOnce(
    connection: Connection,
    name: ChangeTable,
    rows: readonly SavedRow[],
  ): Promise<void> {
    if (rows.length === 0) return
    const table = this.#table(name)
    // A number that is greater than all before.
    const next =
      name === 'changed_keys' ? sql.empty : sql`(SELECT coalesce(max(seq), 0) + 1 FROM ${table}), `
    await connection.run(sql`
      INSERT INTO ${table} SELECT ${next}* FROM (VALUES ${sql.rows(rows)})`)
  }
}

/** No statement grows without bound. */
export const ROWS_AT_ONCE = 1_000
