// A lake of a world: each state that a run has published is in a database file of its own, elsewhere, where no harm comes to
// it. What `eider pull` asks of a lake is answered from there; the connection to it may break. A lake keeps the last states
// only, whoever is pulling one just then.

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { LAKE_DATABASE, type LakeTarget } from '../../src/core/lake.ts'
import { splitModelName } from '../../src/core/names.ts'
import type { ProjectPaths } from '../../src/core/project.ts'
import { sql } from '../../src/core/sql.ts'
import { type Connection, Database } from '../../src/duckdb/database.ts'
import { DatabaseError } from '../../src/duckdb/errors.ts'
import type { LakeEngine } from '../../src/duckdb/open-lake.ts'
import { fileRows } from '../../src/store/files/rows.ts'
import { readCurrentSnapshot } from '../../src/store/files/snapshot-directory.ts'
import { type LakeSnapshot, printState } from '../../src/store/lake/published-states.ts'
import type { LakeSession } from '../../src/store/lake/session.ts'
import type { World } from './world.ts'

const KEPT_STATES = 3
const BREAKS_SHARE = 0.05

/** Of what is only said. */
const target = {
  catalog: { host: 'elsewhere', port: 5432, user: 'nobody', database: 'lake' },
  schema: 'simulated',
  store: { data: 's3://elsewhere/', endpoint: null },
} as unknown as LakeTarget

export class SimulatedLake {
  readonly #world: World
  readonly #dir: string
  readonly #breaks: boolean
  /** By the number of a state, which is that of its file. */
  readonly #states = new Map<number, LakeSnapshot>()
  #next = 1

  constructor(world: World, { dir, breaks }: { readonly dir: string; readonly breaks: boolean }) {
    this.#world = world
    this.#dir = dir
    this.#breaks = breaks
    this.clear()
  }

  clear(): void {
    this.#states.clear()
    rmSync(this.#dir, { recursive: true, force: true })
    mkdirSync(this.#dir, { recursive: true })
  }

  /** What a run has published in a directory comes into the lake, if it is not the last one there. */
  async publish(snapshots: string): Promise<void> {
    const snapshot = await readCurrentSnapshot(snapshots)
    const last = [...this.#states.values()].at(-1)
    if (snapshot === null || (last?.id === snapshot.id && last.runId === snapshot.runId)) return
    const seq = this.#next++
    const at = String(seq)
    await using database = await Database.open({ path: ':memory:', threads: 1 })
    await using connection = await database.connect()
    await connection.run(sql`ATTACH ${sql.value(this.#fileOf(seq))} AS copy`)
    for (const { model, file } of snapshot.relations) {
      const { schema, table } = splitModelName(model)
      await connection.run(sql`
        ATTACH ${sql.value(join(snapshots, file))} AS one (READ_ONLY);
        CREATE SCHEMA IF NOT EXISTS ${sql.ident('copy', schema)};
        CREATE TABLE ${sql.ident('copy', schema, table)} AS FROM ${sql.ident(...fileRows.tableOf('one'))};
        DETACH one`)
    }
    await connection.run(sql`DETACH copy`)
    const relations = snapshot.relations.map((one) => ({ ...one, bytes: 0, at, evaluated: false }))
    this.#states.set(seq, { ...snapshot, relations })
    this.#world.note(`the lake has state ${at}: ${snapshot.id}`)
    for (const old of [...this.#states.keys()].slice(0, -KEPT_STATES)) {
      this.#states.delete(old)
      rmSync(this.#fileOf(old))
    }
  }

  /** As a process on a machine with these paths has it. */
  session(paths: ProjectPaths): LakeSession {
    const session: Pick<LakeSession, 'paths' | 'lake' | 'openAttached'> = {
      paths,
      lake: target,
      openAttached: () => this.#open(),
    }
    return session as LakeSession
  }

  async #open(): Promise<LakeEngine> {
    this.#mayBreak()
    if (this.#states.size === 0)
      throw refusal('Existing DuckLake at metadata catalog "lake" does not exist')
    const database = await Database.open({ path: ':memory:', threads: 1 })
    {
      await using connection = await database.connect()
      await connection.run(sql`
        ATTACH ':memory:' AS ${sql.ident(LAKE_DATABASE)};
        CREATE SCHEMA ${sql.ident(LAKE_DATABASE, '_eider')}`)
    }
    const engine = {
      lake: target,
      database: {
        connect: () => this.#connect(database),
        [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
      },
      attachAs: (connection: Connection, as: string, { version }: { readonly version: bigint }) =>
        this.#attach(connection, as, Number(version)),
    }
    return engine as unknown as LakeEngine
  }

  async #connect(database: Database): Promise<Connection> {
    this.#mayBreak()
    const connection = await database.connect()
    const rows = [...this.#states].map(
      ([seq, snapshot]) =>
        sql`(${sql.value(seq)}, ${sql.value(snapshot.id)}, ${sql.value(snapshot.runId)},
          ${sql.value(snapshot.publishedAt.toISOString())}::TIMESTAMPTZ, ${sql.value(printState(snapshot))})`,
    )
    await connection.run(sql`
      USE ${sql.ident(LAKE_DATABASE)};
      CREATE OR REPLACE TABLE _eider.published AS
      FROM (VALUES ${sql.join(rows)}) t(seq, id, run_id, published_at, manifest)`)
    return connection
  }

  async #attach(connection: Connection, as: string, seq: number): Promise<void> {
    this.#mayBreak()
    if (!this.#states.has(seq)) throw refusal(`No snapshot found at version ${seq}`)
    const file = sql.value(this.#fileOf(seq))
    await connection.run(sql`ATTACH ${file} AS ${sql.ident(as)} (READ_ONLY)`)
  }

  #fileOf(seq: number): string {
    return join(this.#dir, `${seq}.duckdb`)
  }

  #mayBreak(): void {
    if (this.#breaks && this.#world.chance(BREAKS_SHARE))
      throw refusal('server closed the connection unexpectedly')
  }
}

const refusal = (message: string) =>
  new DatabaseError(
    { type: 'IO', subtype: null, message, name: null, candidates: [], position: null },
    null,
  )
