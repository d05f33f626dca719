// Published states that are kept, as people ask for them: which one stood when, and its rows.

import type { ModelName } from '../core/names.ts'
import type { PublishedRelation, Snapshot } from '../core/snapshot.ts'
import type { Sql } from '../core/sql.ts'
import type { Connection, Database } from '../duckdb/database.ts'
import type { ReadOptions } from './warehouse.ts'

export interface PastStates {
  /** An engine for connections that read rows; what it runs otherwise is in its own memory. */
  openEngine(options: ReadOptions): Promise<Database>
  list(): Promise<KeptStates>
  /** What the older states take beyond the newest; null: nobody can tell. */
  olderBytes(): Promise<number | null>
  /** null: it is no longer kept, or cannot be read. */
  find(state: KeptState): Promise<Snapshot | null>
  /** What is wrong with the rows of a relation at first sight, as one sentence; null for nothing. */
  problemOf(relation: PublishedRelation): Promise<string | null>
  /**
   * Attaches what has the rows of these relations of one state, in no transaction, for connections of the same engine: that
   * of openEngine(), or of the warehouse. Gives a query for each, in the order of nothing. They stay until the engine closes.
   */
  attach(
    connection: Connection,
    relations: readonly PublishedRelation[],
  ): Promise<ReadonlyMap<ModelName, Sql>>
  /** Whether the error says that the rows are no longer what was published, or are gone. */
  isLost(error: unknown): boolean
}

/** A time at which one state was the published one; a state that came back has several. */
export interface KeptState {
  readonly id: string
  readonly runId: string
  readonly publishedAt: Date
  /** null: it is the newest. */
  readonly replacedAt: Date | null
}

export interface KeptStates {
  /** Oldest first. */
  readonly states: readonly KeptState[]
  /** Files of states that cannot be read, so that nobody knows when they were current. */
  readonly unreadable: readonly string[]
}
