// The lock of a run on a lake: advisory locks of PostgreSQL, held by a transaction that stays open on a connection
// for it. A machine that dies loses them with its connection. They keep runs in order; that a run which lost them does no
// harm is the matter of its mark (state.ts).
//
// h is a hash of the database and the schema. A run of all models takes (h, 0) for itself; one of some shares (h, 0) and
// takes (h, hash of the model) for each. A flush takes (h + 1, hash of its target) for the length of a batch, and
// the process that makes the state takes (h + 1, hash of ''). Two that hash alike wait for each other, which does no harm.

import { EnvironmentError } from '../../core/failures.ts'
import { hashOf } from '../../core/hash.ts'
import type { LakeTarget } from '../../core/lake.ts'
import { limits } from '../../core/limits.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import type { LakeEngine } from '../../duckdb/open-lake.ts'
import { numberOf, type Row, textOf } from '../../duckdb/values.ts'
import type { LeaseHolder, LeaseOptions } from '../run-lease.ts'
import { explainLake } from './failures.ts'

const LOCK = '_eider_lock'

export class LakeLock {
  /** What it holds; null: all models. */
  readonly models: readonly ModelName[] | null
  /** The name of the run. */
  readonly name: string
  readonly #connection: Connection

  private constructor(connection: Connection, name: string, models: readonly ModelName[] | null) {
    this.#connection = connection
    this.name = name
    this.models = models
  }

  /** On an engine that has nothing attached. Throws EnvironmentError `run-locked`. */
  static async take(
    engine: LakeEngine,
    options: LeaseOptions & { readonly name: string },
  ): Promise<LakeLock> {
    const { models = null, name } = options
    const { lake } = engine
    const connection = await engine.database.connect()
    engine.database.defer(() => connection[Symbol.asyncDispose]())
    try {
      // Without its lock the run may not go on, so no pool has to look for a connection that still works.
      await connection.run(sql`SET GLOBAL pg_pool_health_check_query = ''`)
      await attach(connection, engine)
      refuseUnsafe(await waitFor(connection, locksOf(lake, models), options, lake))
      return new LakeLock(connection, name, models)
    } catch (error) {
      throw explainLake(error, lake)
    }
  }

  /** Throws EnvironmentError `run-lock-lost`. */
  async check(): Promise<void> {
    try {
      await this.#connection.row(ask(sql`SELECT 1 AS held`))
    } catch (cause) {
      throw lockLost(cause)
    }
  }
}

/**
 * The turn of a machine to flush events of a target, so that commits of several do not meet, or to make the state (null).
 * Throws EnvironmentError `run-locked`.
 */
export async function holdTurn(
  engine: LakeEngine,
  target: ModelName | null,
  options: LeaseOptions,
): Promise<AsyncDisposable> {
  const { lake } = engine
  const connection = await engine.database.connect()
  try {
    await attach(connection, engine)
    const key = positiveHash([foldCase(target ?? '')])
    const base = (baseOf(lake) + 1) % 2 ** 31
    const lock = sql`SELECT 1 AS held FROM pg_advisory_xact_lock(${sql.value(base)}, ${sql.value(key)})`
    await waitFor(connection, [lock], options, lake)
  } catch (error) {
    await connection[Symbol.asyncDispose]()
    throw explainLake(error, lake)
  }
  return {
    async [Symbol.asyncDispose]() {
      // PostgreSQL gives the lock back when the connection is gone, too.
      await connection.run(sql`ROLLBACK`).catch(() => {})
      await connection[Symbol.asyncDispose]()
    },
  }
}

export const lockLost = (cause?: unknown): EnvironmentError =>
  new EnvironmentError(
    'run-lock-lost',
    'the run has lost its lock on the lake, and may not go on',
    {
      hint: 'another run may have taken over; what this one has committed stays; run again',
      cause,
    },
  )

/** Who holds the lock of runs; null when nobody does. Throws EnvironmentError as take() does. */
export async function lockHolder(engine: LakeEngine): Promise<LeaseHolder | null> {
  await using connection = await engine.database.connect()
  try {
    await attach(connection, engine)
    refuseUnsafe((await connection.row(ask(sql`SELECT ${SERVER}`))) as unknown as Server)
    return await holderOf(connection, engine.lake)
  } catch (error) {
    throw explainLake(error, engine.lake)
  }
}

async function attach(connection: Connection, engine: LakeEngine): Promise<void> {
  const path = sql.value(engine.connectionString)
  await connection.run(
    sql`ATTACH IF NOT EXISTS ${path} AS ${sql.ident(LOCK)} (TYPE postgres, SECRET lake_catalog)`,
  )
}

const baseOf = ({ catalog, schema }: LakeTarget): number => positiveHash([catalog.database, schema])

const positiveHash = (parts: readonly unknown[]): number =>
  Number.parseInt(hashOf(16, parts).slice(0, 8), 16) >>> 1

function locksOf(lake: LakeTarget, models: readonly ModelName[] | null): readonly Sql[] {
  const lock = (key: number, name = sql`pg_advisory_xact_lock`) =>
    sql`SELECT ${SERVER} FROM ${name}(${sql.value(baseOf(lake))}, ${sql.value(key)})`
  if (models === null) return [lock(0)]
  const keys = models.map((model) => positiveHash([foldCase(model)]) || 1)
  const ascending = [...new Set(keys)].toSorted((a, b) => a - b)
  return [lock(0, sql`pg_advisory_xact_lock_shared`), ...ascending.map((key) => lock(key))]
}

/** In slices, so that an abort is seen; each begins again with the first lock. */
async function waitFor(
  connection: Connection,
  locks: readonly Sql[],
  { waitMs, signal }: LeaseOptions,
  lake: LakeTarget,
): Promise<Server> {
  const deadline = performance.now() + waitMs
  for (;;) {
    signal.throwIfAborted()
    const restMs = Math.max(1, Math.ceil(deadline - performance.now()))
    const sliceMs = Math.min(limits.lakeLockSliceMs, restMs)
    try {
      await connection.run(sql`BEGIN TRANSACTION`)
      await connection.run(tell(sql`SET LOCAL lock_timeout = ${sql.value(sliceMs)}`))
      let server: Row | null = null
      for (const lock of locks) server = await connection.row(ask(lock))
      return server as unknown as Server
    } catch (error) {
      await connection.run(sql`ROLLBACK`).catch(() => {}) // `error` says what happened
      if (!isTimeout(error)) throw error
      if (performance.now() >= deadline) throw await lockedBy(connection, lake)
    }
  }
}

/** What PostgreSQL says of itself. */
interface Server {
  readonly fsync: string
  readonly pages: string
  readonly standby: boolean
  /** Seconds. */
  readonly clock: number
}

const SERVER = sql`current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages,
  pg_is_in_recovery() AS standby, extract(epoch FROM clock_timestamp())::float8 AS clock`

/** Throws EnvironmentError `lake-unsafe` for what cannot be set from here. */
function refuseUnsafe({ fsync, pages, standby, clock }: Server): void {
  const unsafe = (message: string, hint: string) =>
    new EnvironmentError('lake-unsafe', message, { hint })
  if (standby)
    throw unsafe('lake.catalog is a standby, which accepts no commits', 'name its primary')
  for (const [name, value] of [
    ['fsync', fsync],
    ['full_page_writes', pages],
  ])
    if (value !== 'on')
      throw unsafe(
        `PostgreSQL runs with ${name} = ${value}, so what is committed may be lost in a crash`,
        `set ${name} = on in postgresql.conf`,
      )
  const aheadMs = Date.now() - clock * 1000
  if (Math.abs(aheadMs) <= limits.lakeClockMs) return
  const minutes = Math.round(Math.abs(aheadMs) / 60_000)
  const where = aheadMs > 0 ? 'ahead of' : 'behind'
  throw unsafe(
    `the clock of this machine is ${minutes} minutes ${where} that of PostgreSQL`,
    'set the clock, as by NTP',
  )
}

const isTimeout = (error: unknown): boolean =>
  error instanceof DatabaseError && /due to lock timeout/.test(error.details.message)

async function lockedBy(connection: Connection, lake: LakeTarget): Promise<EnvironmentError> {
  const holder = await holderOf(connection, lake)
  return new EnvironmentError(
    'run-locked',
    `another run is in progress: ${holder?.name ?? 'it has ended just now'}`,
    { hint: 'wait longer with --wait SECONDS' },
  )
}

async function holderOf(connection: Connection, lake: LakeTarget): Promise<LeaseHolder | null> {
  const rows = await connection.rows(
    ask(sql`
      SELECT a.application_name AS name, extract(epoch FROM min(a.xact_start))::float8 AS since
      FROM pg_locks l JOIN pg_stat_activity a USING (pid)
      WHERE l.locktype = 'advisory' AND l.granted AND l.classid = ${sql.value(baseOf(lake))} AND l.objid = 0
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      GROUP BY a.application_name ORDER BY name`),
  )
  if (rows.length === 0) return null
  // As session.ts makes the name of a connection.
  const names = rows.map(({ name }) =>
    textOf(name)
      .replace(/^eider /, '')
      .replace(/ (\S+):(\d+)$/, ' (process $2 on $1)'),
  )
  // A role that may not see the connections of others gets none of their times.
  const starts = rows.flatMap(({ since }) => (since === null ? [] : [numberOf(since) * 1000]))
  const since = starts.length === 0 ? {} : { since: new Date(Math.min(...starts)) }
  return { name: names.join(', '), alive: true, ...since }
}

/** A query that PostgreSQL carries out, in the transaction of the connection. */
const ask = (query: Sql): Sql =>
  sql`FROM postgres_query(${sql.value(LOCK)}, ${sql.value(query.inline())})`

const tell = (statement: Sql): Sql =>
  sql`CALL postgres_execute(${sql.value(LOCK)}, ${sql.value(statement.inline())})`
