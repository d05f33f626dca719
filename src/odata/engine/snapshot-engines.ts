// The engines of a service besides that of its current snapshot: those of recent snapshots, which links may need, and
// a spare one for the next. To close an engine and to make one takes the processors from the first answers of a new
// snapshot, so both are done a moment later.

import { limits } from '../../core/limits.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import { EmptyEngine, type EngineSettings } from '../../duckdb/read-only.ts'
import type { SnapshotReader } from '../../store/snapshot-reader.ts'
import type { KnownFacts } from './row-facts.ts'
import { OpenSnapshot } from './open-snapshot.ts'

/** What each engine has, and below which directory each spills into its own. */
export interface EngineOptions extends Omit<EngineSettings, 'connections'> {
  readonly published: SnapshotReader
  /** Of the engine whose threads share one large query; null or absent: there is none. */
  readonly sharing?: Pick<EngineSettings, 'threads' | 'memoryLimit'> | null
}

interface Retired {
  readonly snapshot: OpenSnapshot
  readonly sinceMs: number
}

export class SnapshotEngines implements AsyncDisposable {
  readonly #published: SnapshotReader
  readonly #spare: SpareEngine
  /** Called when an engine cannot be closed. */
  readonly #onFailure: (error: unknown) => void
  /** Youngest first. */
  #retired: Retired[] = []
  /** To be closed. */
  #released: OpenSnapshot[] = []
  #timer: NodeJS.Timeout | null = null
  #tidying = Promise.resolve()

  constructor(options: EngineOptions, onFailure: (error: unknown) => void) {
    const { published, threads, sharing = null, memoryLimit, tempDir, extensions } = options
    const engine = { threads, memoryLimit, tempDir, extensions }
    const settings = { ...engine, connections: limits.pooledConnections }
    const shared = sharing === null ? null : { ...settings, ...sharing }
    this.#published = published
    this.#spare = new SpareEngine(settings, shared)
    this.#onFailure = onFailure
  }

  /** Throws as OpenSnapshot.open() does. */
  open(snapshot: Snapshot, known: KnownFacts = new Map()): Promise<OpenSnapshot> {
    return OpenSnapshot.open(snapshot, { published: this.#published, engines: this.#spare, known })
  }

  /** Takes a lease on a snapshot that is not current, until others have taken its place. */
  retire(snapshot: OpenSnapshot): void {
    this.#retired.unshift({ snapshot, sinceMs: performance.now() })
  }

  find(id: string): OpenSnapshot | undefined {
    return this.#retired.find(({ snapshot }) => snapshot.snapshot.id === id)?.snapshot
  }

  /** Releases those that are too many or too old, and schedules the rest. */
  release(): void {
    const oldest = performance.now() - limits.openEarlierSnapshotMs
    const isKept = ({ sinceMs }: Retired, i: number) =>
      i < limits.openEarlierSnapshots && sinceMs >= oldest
    const released = this.#retired.filter((retired, i) => !isKept(retired, i))
    this.#retired = this.#retired.filter(isKept)
    this.#released.push(...released.map(({ snapshot }) => snapshot))
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#tidying = this.#tidy()
    }, limits.tidyAfterMs)
  }

  /** Call it when nobody opens or retires any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#tidying
    await this.#spare[Symbol.asyncDispose]()
    this.#released.push(...this.#retired.map(({ snapshot }) => snapshot))
    this.#retired = []
    await this.#close()
  }

  async #tidy(): Promise<void> {
    try {
      await this.#close()
      await this.#spare.prepare()
    } catch (error) {
      this.#onFailure(error)
    }
  }

  async #close(): Promise<void> {
    const released = this.#released
    this.#released = []
    for (const snapshot of released) await snapshot[Symbol.asyncDispose]()
  }
}

/** An engine created ahead for the next snapshot: creating one is the longest part of opening it. */
export class SpareEngine implements AsyncDisposable {
  readonly #settings: EngineSettings
  /** Of the engine for large queries; null: there is none. */
  readonly shared: EngineSettings | null
  /** The promise gives null when making it failed: the next one that needs it tries again and gets the error. */
  #spare: Promise<EmptyEngine | null> | null = null

  constructor(settings: EngineSettings, shared: EngineSettings | null = null) {
    this.#settings = settings
    this.shared = shared
  }

  /** Creates one unless there is one. */
  async prepare(): Promise<void> {
    this.#spare ??= EmptyEngine.open(this.#settings).catch(() => null)
    await this.#spare
  }

  /** The spare one, or a new one; the caller disposes of it. */
  async take(): Promise<EmptyEngine> {
    const spare = this.#spare
    this.#spare = null
    return (await spare) ?? (await EmptyEngine.open(this.#settings))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const spare = this.#spare
    this.#spare = null
    await (await spare)?.[Symbol.asyncDispose]()
  }
}
