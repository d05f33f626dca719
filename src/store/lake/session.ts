// The engine of one command that works with a lake, and the lock that it holds there. A run needs both from its lease
// on, so they are opened once and shared.

import { retried } from './retried.ts'
import { randomUUID } from 'node:crypto'
import os from 'node:os'
import { join } from 'node:path'
import { requireWhole, type LakeTarget } from '../../core/lake.ts'
import { limits } from '../../core/limits.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import { LakeEngine } from '../../duckdb/open-lake.ts'
import type { ModelName } from '../../core/names.ts'
import type { LeaseOptions } from '../run-lease.ts'
import type { ReadOptions } from '../warehouse.ts'
import { explainLake, isMissing } from './failures.ts'
import { refuseOthersLake } from './layout.ts'
import { holdTurn, type LakeLock } from './lock.ts'
import { type LakeLook, readLook } from './look.ts'
import { hasStates, type NewestState, readNewest } from './published-states.ts'

export class LakeSession {
  readonly paths: ProjectPaths
  /** That of the run in this process; null where it has none. */
  lock: LakeLock | null = null
  #engine: LakeEngine | null = null
  #attached: Promise<void> | null = null
  /** Whether a run has made the lake, as newest() has seen it under this lease; null: it has not looked. */
  isMade: boolean | null = null
  #look: LakeLook | null = null
  #reading: LakeEngine | null = null
  /** The state that is read. */
  #newest: Promise<NewestState | null> | null = null

  constructor(paths: ProjectPaths) {
    this.paths = paths
  }

  /** Throws UsageError where a setting is missing. */
  get lake(): LakeTarget {
    if (this.paths.lake === undefined) throw new Error('the target is not a lake')
    return requireWhole(this.paths.lake)
  }

  /** An engine with nothing attached. `name`: of the work, such as the id of a run. Throws EnvironmentError. */
  async openEngine(name: string, options: Partial<ReadOptions> = {}): Promise<LakeEngine> {
    const { memoryLimit = null, threads = null, tempDir = null, extensions, isHasty } = options
    const { lake, paths } = this
    const store = isHasty === true ? { ...lake.store, retrySeconds: 0 } : lake.store
    try {
      return await LakeEngine.open(
        { ...lake, store },
        {
          applicationName: applicationName(name),
          searchDir: paths.dir,
          memoryLimit,
          threads,
          tempDir: tempDir ?? join(paths.state, 'tmp', `lake-${randomUUID()}`),
          extensions,
        },
      )
    } catch (error) {
      throw explainLake(error, lake)
    }
  }

  /** Sets the engine of the lease, which later calls share; null when the lease ends. */
  share(engine: LakeEngine | null): void {
    this.#engine = engine
    this.#attached = null
    this.isMade = null
    this.#look = null
  }

  /** The shared engine with the lake attached for writing; null where there is no lease. */
  async attached(): Promise<LakeEngine | null> {
    const engine = this.#engine
    if (engine === null) return null
    this.#attached ??= attachOrMake(engine)
    try {
      await this.#attached
    } catch (error) {
      throw explainLake(error, this.lake)
    }
    return engine
  }

  /**
   * The newest published state. Under a lease all that a run has to know is read with it, for takeLook(), on a connection
   * that is then the run's.
   */
  async newest(): Promise<NewestState | null> {
    const engine = await this.attached()
    if (engine === null && this.#reading !== null) return (this.#newest ??= this.#readNewest())
    if (engine === null || this.isMade !== null) return this.#readNewest()
    try {
      const connection = await engine.database.connect(engine.sessionKeys)
      const newest = await connection.transact(async () => {
        await connection.run(engine.use)
        this.#look = await readLook(connection, this.lake)
        this.isMade = this.#look !== null
        return this.isMade ? readNewest(connection) : null
      })
      engine.database.keep(connection)
      return newest
    } catch (error) {
      throw explainLake(error, this.lake)
    }
  }

  #readNewest(): Promise<NewestState | null> {
    return this.read((connection) =>
      connection.transact(async () =>
        (await hasStates(connection)) ? readNewest(connection) : null,
      ),
    )
  }

  /** What newest() has read, once; later it may be out of date. */
  takeLook(): LakeLook | null {
    const look = this.#look
    this.#look = null
    return look
  }

  /** The turn to flush a target, or to make the state (null). Throws without a lease. */
  async holdTurn(target: ModelName | null, options: LeaseOptions): Promise<AsyncDisposable> {
    if (this.#engine === null) throw new Error('a lake is changed under a lease')
    return holdTurn(this.#engine, target, options)
  }

  /** `work` on a connection to the lake, of the engine that is open if one is; null where no run has made it yet. */
  async read<T>(work: (connection: Connection) => Promise<T>): Promise<T | null> {
    const { lake } = this
    try {
      const shared = (await this.attached()) ?? this.#reading
      if (shared !== null) {
        await using connection = await shared.database.connect()
        return await work(connection)
      }
      const { database } = await this.openAttached('read', {})
      await using _database = database
      await using connection = await database.connect()
      return await work(connection)
    } catch (error) {
      if (isMissing(error)) return null
      throw explainLake(error, lake)
    }
  }

  /** The engine of readWith(), while it is open. */
  get reading(): LakeEngine | null {
    return this.#reading
  }

  /** Until the engine is closed, all reads in this process are of the state that it is pinned to. */
  readWith(engine: LakeEngine): void {
    this.#reading = engine
    this.#newest = null
    engine.database.defer(() => {
      if (this.#reading === engine) this.#reading = this.#newest = null
      return Promise.resolve()
    })
  }

  /** For reading. Throws DatabaseError where no run has made the lake yet (isMissing), else EnvironmentError. */
  async openAttached(name: string, options: Partial<ReadOptions>): Promise<LakeEngine> {
    const engine = await this.openEngine(name, options)
    try {
      await engine.attach({ readOnly: true })
      await refuseOthersLake(engine.control, this.lake)
      return engine
    } catch (error) {
      await engine.database[Symbol.asyncDispose]()
      throw isMissing(error) ? error : explainLake(error, this.lake)
    }
  }
}

/** When several machines make the same lake at the same time, one does, and the others attach it. */
async function attachOrMake(engine: LakeEngine): Promise<void> {
  try {
    return await engine.attach()
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  // The catalog keeps the place of the rows for good, so one that cannot be written must not get there.
  await engine.tryStore()
  await retried(() => engine.attach({ makes: true }), isMadeMeanwhile)
}

const isMadeMeanwhile = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  /^Failed to initialize DuckLake.*(?:already exists|duplicate key)/s.test(error.details.message)

/** What PostgreSQL shows of a connection: the work, the host, the process. */
function applicationName(work: string): string {
  const start = `eider ${work} `
  const end = `:${process.pid}`
  const room = limits.applicationNameBytes - start.length - end.length
  return `${start}${os
    .hostname()
    .replaceAll(/[^\w.-]/g, '_')
    .slice(0, room)}${end}`
}

/** Applies the settings that an engine takes while it is open. */
export async function adjust(
  connection: Connection,
  options: Partial<ReadOptions> & { maxTempSize?: string | null },
): Promise<void> {
  const settings = {
    memory_limit: options.memoryLimit,
    threads: options.threads,
    temp_directory: options.tempDir,
    max_temp_directory_size: options.maxTempSize,
  }
  for (const [name, value] of Object.entries(settings))
    if (value != null)
      await connection.run(sql`SET GLOBAL ${sql.ident(name)} = ${sql.value(value)}`)
}
