// One snapshot in an engine of its own: its entity model, and connections to it.

import { randomUUID } from 'node:crypto'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../core/limits.ts'
import { entitySetName, type ModelName } from '../core/names.ts'
import type { Column } from '../core/relation.ts'
import { Resources } from '../core/resources.ts'
import { type PublishedRelation, type Snapshot, SNAPSHOT_TABLE } from '../core/snapshot.ts'
import { type Sql, sql } from '../core/sql.ts'
import { describe } from '../duckdb/catalog.ts'
import type { ConnectionPool, PooledConnection } from '../duckdb/connection-pool.ts'
import type { Connection } from '../duckdb/database.ts'
import { openReadOnly } from '../duckdb/read-only.ts'
import { sizeProblem } from './damaged-files.ts'
import { buildEntityModelInSlices, type EntityModel } from './entity-model.ts'
import { hasOutsidersSql, isTemporal } from './temporal-range.ts'
import { edmTypeOf } from './type-map.ts'

export interface EngineOptions {
  /** The snapshots directory. */
  readonly dir: string
  readonly threads: number
  readonly memoryLimit: string | null
  /** Each engine spills into a directory of its own below this one. */
  readonly tempDir: string
}

/** What all leases on a snapshot share. The engine is closed with the last of them. */
interface Engine {
  readonly snapshot: Snapshot
  readonly model: EntityModel
  readonly connections: ConnectionPool
  readonly resources: Resources
  leases: number
}

/** A lease on an open snapshot. */
export class OpenSnapshot implements AsyncDisposable {
  readonly #engine: Engine
  #released = false

  private constructor(engine: Engine) {
    engine.leases++
    this.#engine = engine
  }

  /** Throws when a file is missing, is damaged or is not what the manifest says. */
  static async open(snapshot: Snapshot, options: EngineOptions): Promise<OpenSnapshot> {
    const { dir, threads, memoryLimit } = options
    const tempDir = join(options.tempDir, `snapshot-${randomUUID()}`)
    await using resources = new Resources()
    resources.defer(() => rm(tempDir, { recursive: true, force: true }))
    const files = snapshot.relations.map((relation) => ({
      name: entitySetName(relation.model),
      path: join(dir, relation.file),
    }))
    for (const relation of snapshot.relations) {
      const problem = await sizeProblem(dir, relation)
      if (problem !== null) throw new Error(problem)
    }
    const connections = resources.use(
      await openReadOnly({
        files,
        threads,
        memoryLimit,
        tempDir,
        connections: limits.pooledConnections,
      }),
    )
    const signedTinyints = new Map<ModelName, ReadonlySet<string>>()
    const clampedTimes = new Map<ModelName, ReadonlySet<string>>()
    {
      await using lent = await connections.take()
      const { connection } = lent
      for (const relation of snapshot.relations) {
        await requireAsPublished(connection, relation)
        signedTinyints.set(relation.model, await negativeTinyints(connection, relation))
        clampedTimes.set(relation.model, await timesOutOfRange(connection, relation))
      }
    }
    const model = await buildEntityModelInSlices(snapshot, { signedTinyints, clampedTimes })
    const engine = { snapshot, model, connections, resources: resources.move(), leases: 0 }
    return new OpenSnapshot(engine)
  }

  get snapshot(): Snapshot {
    return this.#engine.snapshot
  }

  get model(): EntityModel {
    return this.#engine.model
  }

  /** A connection for one query, to be given back before the lease is. */
  connect(): Promise<PooledConnection> {
    return this.#engine.connections.take()
  }

  /** One more lease on the same engine. */
  lease(): OpenSnapshot {
    return new OpenSnapshot(this.#engine)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#released) return
    this.#released = true
    this.#engine.leases--
    if (this.#engine.leases === 0) await this.#engine.resources[Symbol.asyncDispose]()
  }
}

const rowsOf = ({ model }: PublishedRelation): Sql =>
  sql.ident(entitySetName(model), 'main', SNAPSHOT_TABLE)

/** Equal as long as the files of the snapshot are the same ones, unchanged since. */
export async function filesAre(dir: string, { relations }: Snapshot): Promise<string> {
  const all = relations.map(async ({ file }) => {
    const found = await stat(join(dir, file), { bigint: true }).catch(() => null)
    return found === null ? 'gone' : `${found.ino} ${found.size} ${found.mtimeNs}`
  })
  return (await Promise.all(all)).join()
}

/** A response describes its rows by the manifest, so a file that holds something else must not be served. */
async function requireAsPublished(
  connection: Connection,
  relation: PublishedRelation,
): Promise<void> {
  const columns = await describe(connection, sql`FROM ${rowsOf(relation)}`)
  const counted = await connection.row(sql`SELECT count(*) AS n FROM ${rowsOf(relation)}`)
  const hasColumns =
    columns.length === relation.columns.length &&
    columns.every(({ name, type }, i) => {
      const published = relation.columns[i]!
      return published.name === name && published.type === type
    })
  if (!hasColumns) throw new Error(`${relation.file} has other columns than the manifest says`)
  if (Number(counted?.['n']) !== relation.rows)
    throw new Error(`${relation.file} has another number of rows than the manifest says`)
}

async function negativeTinyints(
  connection: Connection,
  relation: PublishedRelation,
): Promise<ReadonlySet<string>> {
  const tinyints = relation.columns.filter(({ type }) => type === 'TINYINT')
  return columnsWhere(connection, tinyints, ({ name }) => {
    return sql`(SELECT min(${sql.ident(name)}) < 0 FROM ${rowsOf(relation)})`
  })
}

async function timesOutOfRange(
  connection: Connection,
  relation: PublishedRelation,
): Promise<ReadonlySet<string>> {
  const typeOf = ({ type }: Column) => edmTypeOf(type, { negative: false, typeName: null })
  const temporal = relation.columns.filter((column) => isTemporal(typeOf(column)))
  return columnsWhere(connection, temporal, (column) =>
    hasOutsidersSql(rowsOf(relation), column, typeOf(column)),
  )
}

/** Names of the columns of which a condition without a row is true. */
async function columnsWhere(
  connection: Connection,
  columns: readonly Column[],
  condition: (column: Column) => Sql,
): Promise<ReadonlySet<string>> {
  if (columns.length === 0) return new Set()
  const facts = columns.map((column) => sql`${condition(column)} AS ${sql.ident(column.name)}`)
  const row = await connection.row(sql`SELECT ${sql.join(facts)}`)
  return new Set(columns.map(({ name }) => name).filter((name) => row?.[name] === true))
}
