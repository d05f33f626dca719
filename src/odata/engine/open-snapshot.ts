// One snapshot in its own engine: its entity model, and connections to it.

import { entitySetName, type ModelName } from '../../core/names.ts'
import { Resources } from '../../core/resources.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import type { SnapshotReader } from '../../store/snapshot-reader.ts'
import type { AttachedFile, EmptyEngine, EngineSettings } from '../../duckdb/read-only.ts'
import type { ConnectionPool, PooledConnection } from '../../duckdb/connection-pool.ts'
import { buildEntityModelInSlices, type SnapshotFacts } from '../edm/entity-model.ts'
import { factsKey, type RowFacts, type KnownFacts, readFacts } from './row-facts.ts'
import { type ReaderView, readerView } from './reader-model.ts'
import { SharedEngine } from './shared-engine.ts'
import type { Reader } from '../../access/reader.ts'
import type { EntityModel } from '../edm/model.ts'

interface OpenOptions {
  readonly published: SnapshotReader
  readonly engines: { take(): Promise<EmptyEngine>; readonly shared: EngineSettings | null }
  /** Facts of the files of another snapshot, to which most of these may belong. */
  readonly known: KnownFacts
}

/** What all leases on a snapshot share. The engine is closed with the last of them. */
interface Engine {
  readonly snapshot: Snapshot
  readonly model: EntityModel
  readonly connections: ConnectionPool
  readonly shared: SharedEngine
  readonly facts: KnownFacts
  readonly rowsKeys: ReadonlyMap<ModelName, string>
  readonly known: SnapshotFacts
  /** For readers who do not see all, by their keys. */
  readonly views: Map<string, Promise<ReaderView>>
  leases: number
}

export class OpenSnapshot implements AsyncDisposable {
  readonly snapshot: Snapshot
  readonly model: EntityModel
  readonly facts: KnownFacts
  /** What `factsKey` gives for each relation. */
  readonly rowsKeys: ReadonlyMap<ModelName, string>
  readonly #engine: Engine
  #released = false

  private constructor(engine: Engine) {
    engine.leases++
    this.#engine = engine
    this.snapshot = engine.snapshot
    this.model = engine.model
    this.facts = engine.facts
    this.rowsKeys = engine.rowsKeys
  }

  /** Throws when a file is missing, is damaged or is not what the manifest says. */
  static async open(
    snapshot: Snapshot,
    { published, engines, known }: OpenOptions,
  ): Promise<OpenSnapshot> {
    const files: AttachedFile[] = []
    for (const relation of snapshot.relations) {
      const problem = await published.problemOf(relation)
      if (problem !== null) throw new Error(problem)
      files.push(published.open(relation, entitySetName(relation.model)))
    }
    await using resources = new Resources()
    const engine = await engines.take()
    const connections = resources.use(await engine.openReadOnly(files))
    const facts = new Map<string, RowFacts>()
    const rowsKeys = new Map<ModelName, string>()
    const signedTinyints = new Map<ModelName, ReadonlySet<string>>()
    const clampedTimes = new Map<ModelName, ReadonlySet<string>>()
    const shapes = new Map<ModelName, RowFacts['shapes']>()
    {
      await using lent = await connections.take()
      for (const relation of snapshot.relations) {
        const key = await factsKey(published, relation)
        const found = known.get(key) ?? (await readFacts(lent.connection, relation, published.rows))
        facts.set(key, found)
        rowsKeys.set(relation.model, key)
        signedTinyints.set(relation.model, found.signedTinyints)
        clampedTimes.set(relation.model, found.clampedTimes)
        shapes.set(relation.model, found.shapes)
      }
    }
    const stored = published.rows
    const all = { stored, signedTinyints, clampedTimes, shapes }
    const model = await buildEntityModelInSlices(snapshot, all)
    resources.move()
    const views = new Map<string, Promise<ReaderView>>()
    const shared = new SharedEngine(engines.shared, files)
    const shown = { snapshot, model, known: all, views }
    return new OpenSnapshot({ ...shown, connections, shared, facts, rowsKeys, leases: 0 })
  }

  async viewFor(reader: Reader): Promise<ReaderView> {
    const { snapshot, model, known, views, connections } = this.#engine
    if (reader.key === '') return { snapshot, model, problems: [] }
    const found = views.get(reader.key)
    if (found !== undefined) return await found
    const make = async () => {
      await using lent = await connections.take()
      return await readerView(reader, snapshot, known, lent.connection)
    }
    const made = make()
    views.set(reader.key, made)
    made.catch(() => views.delete(reader.key))
    return await made
  }

  /** A connection for one query, to be released before the lease is; one whose query threads share, where there is one. */
  async connect(isShared = false): Promise<PooledConnection> {
    const { connections, shared } = this.#engine
    return (isShared ? await shared.take() : null) ?? (await connections.take())
  }

  /** One more lease on the same engine. */
  lease(): OpenSnapshot {
    return new OpenSnapshot(this.#engine)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#released) return
    this.#released = true
    this.#engine.leases--
    if (this.#engine.leases > 0) return
    await using resources = new Resources()
    resources.use(this.#engine.connections)
    resources.use(this.#engine.shared)
  }
}
