// The engines that compare published states for delta links: one set in two of them, its rows now under the name of the set
// as everywhere, and the rows of before under another one. Links of one set and one earlier state share an engine, and
// there are only so many at a time: each may take its own share of memory.
//
// The first link compares all rows. Those that differ are left in tables, from which it and all others are answered, of
// whatever reader and with whatever options. Where they are few, the engine lets go of the files and of its place, and
// stays for followers to come. Where they are very many, each page compares the files anew.

import { once } from 'node:events'
import { limits } from '../../core/limits.ts'
import { Resources } from '../../core/resources.ts'
import {
  type PublishedRelation,
  rowsInAnyOrder,
  type TableName,
  tablesOfRows,
} from '../../core/snapshot.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { ConnectionPool, PooledConnection } from '../../duckdb/connection-pool.ts'
import type { Connection } from '../../duckdb/database.ts'
import { EmptyEngine } from '../../duckdb/read-only.ts'
import { type EntitySet, nameBefore } from '../edm/model.ts'
import { changedKeysSql, fewRowsSql, rowsWithKeysSql, type TwoStates } from '../sql/changed-rows.ts'
import { createAdmission } from './admission.ts'
import { type EngineAccess, inTurn, unlessGone } from './query.ts'
import type { EngineOptions } from './snapshot-engines.ts'

type ComparedSet = Pick<EntitySet, 'name' | 'relation' | 'table'>

/** A use of an engine. */
export interface ComparisonLease extends AsyncDisposable {
  /** The rows of before, as far as they differ. */
  readonly tableBefore: TableName
  /**
   * Call it before a query. Waits for the comparison, or makes it in a turn of the request. Throws as Query.open()
   * does.
   */
  compare(request: Turn): Promise<void>
  connect(): Promise<PooledConnection>
}

type Turn = Omit<EngineAccess, 'snapshot' | 'streams'>

interface Shared {
  readonly key: string
  readonly opened: Promise<ConnectionPool>
  /** The engine stays open without its place. */
  readonly keep: () => void
  /** Call it when nobody uses it or waits for it. */
  readonly close: () => Promise<void>
  users: number
  state: 'new' | 'compared' | 'kept'
  /** While a request compares. */
  comparing: Promise<void> | null
}

/** What stays of comparisons; the limits of the service, but in tests. */
export interface Kept {
  readonly rows: number
  readonly bytes: number
  readonly engines: number
}

const usual: Kept = {
  rows: limits.comparedRows,
  bytes: limits.keptComparisonBytes,
  engines: limits.keptComparisons,
}

export class Comparisons implements AsyncDisposable {
  readonly #options: EngineOptions
  readonly #kept: Kept
  readonly #places: ReturnType<typeof createAdmission>
  /** Those that were used last come last. */
  readonly #shared = new Map<string, Shared>()
  /** Pairs of states that differ in very many rows. */
  readonly #many = new Set<string>()
  #isClosed = false

  /** `processes`: how many share the limits of the service, this one included. */
  constructor(options: EngineOptions, kept = usual, processes = 1) {
    const { comparisons, waitingQueries } = limits
    const running = Math.ceil(comparisons / processes)
    const waiting = Math.ceil(waitingQueries / processes)
    this.#options = options
    this.#kept = { ...kept, engines: Math.ceil(kept.engines / processes) }
    this.#places = createAdmission({ running, large: running, waiting })
  }

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
    const used = this.#shared.get(key) ?? this.#open(key, set, before)
    this.#shared.delete(key)
    this.#shared.set(key, used)
    used.users++
    await using resources = new Resources()
    resources.defer(() => this.#leave(key, used))
    const pool = await unlessGone(used.opened, gone, clock)
    const states = statesOf(set, before, this.#options)
    return Object.assign(resources.move(), {
      tableBefore: states.before,
      compare: (request: Turn) => this.#compare(used, states, request),
      connect: () => pool.take(),
    })
  }

  #open(key: string, set: ComparedSet, before: PublishedRelation): Shared {
    const unused = new AbortController()
    const left = once(unused.signal, 'abort')
    const owned = new Resources()
    let keep = () => {}
    let closed = Promise.resolve()
    const opened = new Promise<ConnectionPool>((resolve, reject) => {
      const isKept = new Promise<void>((done) => (keep = done))
      const use = async () => {
        const pool = owned.use(await openBoth(set, before, this.#options))
        resolve(pool)
        if ((await Promise.race([isKept, left])) !== undefined) await owned[Symbol.asyncDispose]()
      }
      const turn = { signal: unused.signal, begun: false, isSmall: true }
      closed = this.#places.run(use, turn).catch(reject)
    })
    const close = async () => {
      unused.abort()
      await closed
      await owned[Symbol.asyncDispose]()
    }
    return { key, opened, keep, close, users: 0, state: 'new', comparing: null }
  }

  async #leave(key: string, used: Shared): Promise<void> {
    used.users--
    if (used.users > 0) return
    if (used.state === 'kept' && !this.#isClosed) return this.#makeRoom()
    if (this.#shared.get(key) === used) this.#shared.delete(key)
    await used.close()
  }

  async #makeRoom(): Promise<void> {
    const idle = [...this.#shared].filter(([, { users }]) => users === 0)
    for (const [key, each] of idle.slice(0, Math.max(0, idle.length - this.#kept.engines))) {
      this.#shared.delete(key)
      await each.close()
    }
  }

  /** A request that is ended while it compares leaves that to the next one. */
  async #compare(used: Shared, states: States, request: Turn): Promise<void> {
    while (used.state === 'new')
      if (used.comparing === null) {
        used.comparing = this.#compareIn(used, states, request)
        try {
          await used.comparing
        } finally {
          used.comparing = null
        }
      } else {
        const ended = used.comparing.catch(() => {})
        await unlessGone(ended, request.gone, request.clock)
      }
  }

  async #compareIn(used: Shared, states: States, request: Turn): Promise<void> {
    const pool = await used.opened
    await using lent = await pool.take()
    const { connection } = lent
    const { rows, bytes } = this.#kept
    const turn = { begun: false, isSmall: false }
    const isMany =
      this.#many.has(used.key) ||
      !(await inTurn(request, connection, turn, () => leaveChanges(connection, states, rows)))
    if (isMany) await readFiles(connection, states)
    used.state = 'compared'
    if (isMany) return this.#noteMany(used.key)
    if ((await bytesWithoutFiles(connection)) > bytes) return
    used.state = 'kept'
    used.keep()
  }

  /** Each of their pages would else look for the rows that differ, in vain. */
  #noteMany(key: string): void {
    if (this.#many.size >= limits.uncomparedPairs) this.#many.clear()
    this.#many.add(key)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    for (const [key, each] of this.#shared)
      if (each.users === 0) {
        this.#shared.delete(key)
        await each.close()
      }
  }
}

/** One delta link needs two: for its rows, and for their number. Links that share the engine get further ones. */
const CONNECTIONS = 2

/** Under which the files are open; what differs is under the names of the set. No set has a space in its name. */
const FILE = 'file of now'
const FILE_BEFORE = 'file of before'

interface States extends TwoStates {
  /** Where their rows are in the files. */
  readonly files: Pick<TwoStates, 'now' | 'before'>
  /** Keys of all rows in which they may differ, as the later file has recorded them; null: any rows may. */
  readonly changedKeys: Sql | null
  readonly tables: { readonly now: readonly TableName[]; readonly before: readonly TableName[] }
}

function statesOf(
  { name, relation, table }: ComparedSet,
  before: PublishedRelation,
  { published: { rows } }: EngineOptions,
): States {
  const files = {
    now: rowsInAnyOrder(rows, relation, FILE),
    before: rowsInAnyOrder(rows, before, FILE_BEFORE),
  }
  // A state may have come back, so that the one before is the later one.
  const changedKeys =
    rows.keysBetween(relation, before, FILE) ?? rows.keysBetween(before, relation, FILE_BEFORE)
  const named = rowsInAnyOrder(rows, before, nameBefore(name))
  const tables = {
    now: tablesOfRows(rows, relation, FILE),
    before: tablesOfRows(rows, before, FILE_BEFORE),
  }
  return { relation, now: table, before: named, files, changedKeys, tables }
}

/** Throws DatabaseError when one of the files is gone or damaged. */
async function openBoth(
  set: ComparedSet,
  before: PublishedRelation,
  { published, threads, tempDir, extensions }: EngineOptions,
): Promise<ConnectionPool> {
  const memoryLimit = `${limits.comparisonBytes / 2 ** 20}MiB`
  const settings = { threads, memoryLimit, tempDir, extensions, connections: CONNECTIONS }
  const engine = await EmptyEngine.open(settings)
  const files = [published.open(set.relation, FILE), published.open(before, FILE_BEFORE)]
  return await engine.openReadOnly(files, { inMemory: [set.name, nameBefore(set.name)] })
}

/** Leaves the rows that differ under the names of the set, unless they are more than `limit`: then false. */
async function leaveChanges(
  connection: Connection,
  states: States,
  limit: number,
): Promise<boolean> {
  const { relation, now, before, files } = states
  const recorded = await leaveRecorded(connection, states, limit)
  const { now: later, before: earlier } = recorded ?? files
  const keys = besides(states, 'keys')
  await makeTable(
    connection,
    keys,
    changedKeysSql({ relation, now: later, before: earlier }, limit + 1),
  )
  const isFew = await hasUpTo(connection, keys, limit)
  if (isFew) {
    await makeTable(connection, now, rowsWithKeysSql(later, keys, relation.key))
    await makeTable(connection, before, rowsWithKeysSql(earlier, keys, relation.key))
  }
  await dropTables(connection, recorded === null ? [keys] : [keys, later, earlier])
  return isFew
}

/** Leaves the rows that may differ, as far as that is recorded; null: nothing, since all may or more than `limit`. */
async function leaveRecorded(
  connection: Connection,
  states: States,
  limit: number,
): Promise<Pick<TwoStates, 'now' | 'before'> | null> {
  const { relation, changedKeys, tables } = states
  if (changedKeys === null) return null
  const keys = besides(states, 'recorded keys')
  const rows = { now: besides(states, 'rows of now'), before: besides(states, 'rows of before') }
  await makeTable(connection, keys, changedKeys)
  const isFew = await hasUpTo(connection, keys, limit)
  if (isFew) {
    await makeTable(connection, rows.now, fewRowsSql(tables.now, keys, relation.key))
    await makeTable(connection, rows.before, fewRowsSql(tables.before, keys, relation.key))
  }
  await dropTables(connection, [keys])
  return isFew ? rows : null
}

/** A table of the engine itself. */
const besides = ({ before }: States, name: string): TableName => [before[0], 'main', name]

const makeTable = (connection: Connection, name: TableName, rows: Sql) =>
  connection.run(sql`CREATE OR REPLACE TABLE ${sql.ident(...name)} AS ${rows}`)

async function dropTables(connection: Connection, names: readonly TableName[]): Promise<void> {
  for (const name of names) await connection.run(sql`DROP TABLE ${sql.ident(...name)}`)
}

async function hasUpTo(connection: Connection, rows: TableName, limit: number): Promise<boolean> {
  const found = await connection.row(sql`SELECT count(*) AS n FROM ${sql.ident(...rows)}`)
  return Number(found?.['n']) <= limit
}

/** Has all rows under the names of the set. */
async function readFiles(connection: Connection, { now, before, files }: States): Promise<void> {
  const show = (name: TableName, rows: TableName) =>
    connection.run(sql`CREATE OR REPLACE VIEW ${sql.ident(...name)} AS FROM ${sql.ident(...rows)}`)
  await show(now, files.now)
  await show(before, files.before)
}

/** What an engine holds that lets go of the files. */
async function bytesWithoutFiles(connection: Connection): Promise<number> {
  for (const file of [FILE, FILE_BEFORE])
    await connection.run(sql`DETACH DATABASE IF EXISTS ${sql.ident(file)}`)
  const memory = await connection.row(
    sql`SELECT sum(memory_usage_bytes + temporary_storage_bytes) AS bytes FROM duckdb_memory()`,
  )
  return Number(memory?.['bytes'])
}
