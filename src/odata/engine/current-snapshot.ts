// The published snapshot that requests are answered from, and its replacement by newer ones while requests run.
//
// Each snapshot has its own engine, in which the file of each set is attached for reading. A new manifest opens
// a new engine; then one assignment makes it the current one. A request holds a lease on the snapshot it began with,
// and an engine is closed when it is neither current nor among the last ones and nobody holds a lease on it. A link can
// ask for an earlier one as long as a run keeps its files: it is opened again then.

import { hashOf } from '../../core/hash.ts'
import { limits } from '../../core/limits.ts'
import type { Logger } from '../../core/logger.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import { isDamage } from '../../duckdb/errors.ts'
import type { CurrentState, DamagedFile, Following } from '../../store/snapshot-reader.ts'
import { type KnownFacts, rowsAre } from './row-facts.ts'
import { alone, type Fellows } from './fellows.ts'
import type { Reader } from '../../access/reader.ts'
import type { ReaderView } from './reader-model.ts'
import type { OpenSnapshot } from './open-snapshot.ts'
import { type EngineOptions, SnapshotEngines } from './snapshot-engines.ts'

export interface SnapshotsOptions extends EngineOptions {
  readonly logger: Logger
  readonly fellows?: Fellows
}

interface Damaged {
  readonly mark: string | null
  /** What its files were; a run that writes one again may leave the mark as it is. */
  readonly files: Promise<string>
  readonly problem: string
  /** Set when it has been checked and another snapshot may be current. */
  isReported: boolean
}

/** Keys that the log names; a project with so many of them has the same reason for all. */
const NAMED = 10

/** Before the first publish: nothing is served. */
const NOTHING: Snapshot = { id: 'none', publishedAt: new Date(0), runId: '', relations: [] }

export class Snapshots implements AsyncDisposable {
  readonly #options: SnapshotsOptions
  readonly #engines: SnapshotEngines
  #current: OpenSnapshot
  /** The mark of the state that `current` was opened from. */
  #mark: string | null = null
  /** The same of a snapshot in which a query has met a damaged file; one before it is current then. */
  #damaged: Damaged | null = null
  #opened = 0
  #reported: string | null = null
  /** Files that were read for damage and found whole: not again for a while, however many queries fail. */
  #foundWhole: { readonly id: string; readonly sinceMs: number } | null = null
  #looking: Promise<readonly DamagedFile[]> | null = null
  readonly #stop = new AbortController()
  /** Whose problems the log has. */
  readonly #told = new WeakSet<ReaderView>()
  readonly #following: Following
  #timer: NodeJS.Timeout | null = null
  #checking: Promise<void> | null = null
  #isCheckWanted = false
  /** Retained snapshots that are being opened: links of one snapshot come many at a time. */
  readonly #opening = new Map<string, Promise<OpenSnapshot | null>>()

  private constructor(options: SnapshotsOptions, engines: SnapshotEngines, current: OpenSnapshot) {
    this.#options = options
    this.#engines = engines
    this.#following = options.published.follow(() => void this.check())
    this.#current = current
  }

  /** Opens what is published now, or nothing yet, and follows it from then on. */
  static async open(options: SnapshotsOptions): Promise<Snapshots> {
    const { logger } = options
    const onFailure = (error: unknown) => logger.error('engine-close-failed', { error })
    const engines = new SnapshotEngines(options, onFailure)
    const snapshots = new Snapshots(options, engines, await engines.open(NOTHING))
    await snapshots.check()
    if (snapshots.published === null) await snapshots.#goBack([])
    if (snapshots.published === null)
      logger.warn('no-snapshot', {
        hint: `nothing is published yet: ${options.published.broughtBy}`,
      })
    snapshots.#timer = setInterval(() => void snapshots.check(), limits.snapshotPollMs)
    return snapshots
  }

  /** The current snapshot; null before the first publish. */
  get published(): Snapshot | null {
    return this.#current.snapshot === NOTHING ? null : this.#current.snapshot
  }

  /** The id of the snapshot that a request without a next link is answered from; before the first publish as well. */
  get currentId(): string {
    return this.#current.snapshot.id
  }

  /** What is known of the rows of the current snapshot. */
  get currentFacts(): KnownFacts {
    return this.#current.facts
  }

  /** Snapshots opened since the start. */
  get opened(): number {
    return this.#opened
  }

  /** True while what is published cannot be opened; the snapshot before it is served. */
  get isRefused(): boolean {
    return this.#reported !== null
  }

  /** A lease on the current snapshot, to be disposed of by the caller. */
  lease(): OpenSnapshot {
    return this.#current.lease()
  }

  /** What is there of a snapshot for a reader. The log has the row filters that no longer fit it, once. */
  async viewOf(snapshot: OpenSnapshot, reader: Reader): Promise<ReaderView> {
    const view = await snapshot.viewFor(reader)
    if (view.problems.length === 0 || this.#told.has(view)) return view
    this.#told.add(view)
    for (const { set, problem } of view.problems)
      this.#options.logger.warn('row-filter-unbound', { token: reader.name, set, problem })
    return view
  }

  /** A lease on the current snapshot or on one that is retained on disk; null when `id` is neither. */
  async leaseById(id: string): Promise<OpenSnapshot | null> {
    const known = this.#openById(id)
    if (known !== undefined) return known.lease()
    const opening = this.#opening.get(id) ?? this.#openKept(id)
    this.#opening.set(id, opening)
    try {
      return (await opening)?.lease() ?? null
    } finally {
      this.#opening.delete(id)
    }
  }

  /**
   * Reports that a query has met a damaged file of the snapshot. The file is searched for and marked, so that the next
   * run rewrites it; an earlier snapshot without it is served from then on, if there is one.
   */
  async reportDamage(snapshot: Snapshot, error: unknown): Promise<void> {
    if (snapshot !== this.#current.snapshot) return
    if (this.#damaged !== null && this.#mark === this.#damaged.mark) return
    const whole = this.#foundWhole
    if (whole?.id === snapshot.id && performance.now() - whole.sinceMs < limits.damageLookMs) return
    const files = rowsAre(this.#options.published, snapshot)
    const problem = problemOf(error)
    const damaged = { mark: this.#mark, files, problem, isReported: false }
    this.#damaged = damaged
    await files // before anybody hears of it and mends them
    const found = await this.#findDamage(snapshot)
    if (this.#damaged !== damaged || this.#stop.signal.aborted) return // a newer one has been published
    if (found.length === 0) {
      // The files read well, so the fault was in the engine and not in them.
      this.#foundWhole = { id: snapshot.id, sinceMs: performance.now() }
      this.#damaged = this.#mark = null
      return await this.check()
    }
    await this.#goBack(found)
    damaged.isReported = true
    this.#report(error)
  }

  #findDamage(snapshot: Snapshot): Promise<readonly DamagedFile[]> {
    this.#looking ??= this.#lookForDamage(snapshot).finally(() => (this.#looking = null))
    return this.#looking
  }

  async #lookForDamage(snapshot: Snapshot): Promise<readonly DamagedFile[]> {
    const { published, logger, ...engine } = this.#options
    const found = await published.findDamage(snapshot, engine, this.#stop.signal)
    await published.markDamage(found, logger)
    return found
  }

  /**
   * Makes the youngest earlier snapshot current that can be opened and has none of these files. Where there is none, all
   * stays as it is: queries that need no damaged block are still answered.
   */
  async #goBack(damaged: readonly DamagedFile[]): Promise<void> {
    const before = this.#current
    const isDamaged = new Set(damaged.map(({ file }) => file))
    for (const kept of await this.#options.published.retained()) {
      if (kept.id === before.snapshot.id) continue
      if (kept.relations.some(({ file }) => isDamaged.has(file))) continue
      const earlier = await this.leaseById(kept.id)
      if (earlier === null) continue
      if (this.#current !== before) return await earlier[Symbol.asyncDispose]()
      this.#engines.retire(before)
      this.#current = earlier
      return
    }
  }

  /** What was published under that id; null when it is no longer retained. */
  async manifestOf(id: string): Promise<Snapshot | null> {
    return this.#openById(id)?.snapshot ?? (await this.#options.published.find(id))
  }

  /** Logs that files of a retained snapshot cannot be opened: a run has just deleted them, or they are damaged. */
  reportRetained(id: string, error: unknown): void {
    this.#options.logger.warn('kept-snapshot-refused', { snapshot: id, error })
  }

  #openById(id: string): OpenSnapshot | undefined {
    const { snapshot } = this.#current
    return snapshot.id === id ? this.#current : this.#engines.find(id)
  }

  /** The snapshot of a link that was issued before this service started, or long ago. */
  async #openKept(id: string): Promise<OpenSnapshot | null> {
    const kept = await this.#options.published.find(id)
    if (kept === null) return null
    try {
      const snapshot = await this.#engines.open(kept, this.#current.facts)
      this.#engines.retire(snapshot)
      return snapshot
    } catch (error) {
      this.reportRetained(id, error)
      return null
    }
  }

  /** Checks again. Never throws: failures are logged and retried later. */
  check(): Promise<void> {
    this.#isCheckWanted = true
    this.#checking ??= this.#checkWhileWanted()
    return this.#checking
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#following.close()
    await this.#looking
    await this.#checking
    await this.#engines[Symbol.asyncDispose]()
    await this.#current[Symbol.asyncDispose]()
  }

  /** A check requested during a check is another check: another state may have been published after the first. */
  async #checkWhileWanted(): Promise<void> {
    while (this.#isCheckWanted) {
      this.#isCheckWanted = false
      this.#following.ensure()
      try {
        this.#engines.release()
        await this.#follow()
        this.#reported = null
      } catch (error) {
        this.#report(error)
      }
    }
    this.#checking = null
  }

  async #follow(): Promise<void> {
    const current = await this.#readCurrent()
    if (current === null) return
    const { mark } = current
    const damaged = this.#damaged
    if (mark === damaged?.mark) {
      const files = await rowsAre(this.#options.published, await current.read())
      const isSame = files === (await damaged.files)
      if (isSame && damaged.isReported) throw new Error(damaged.problem)
      if (isSame) return
    } else if (mark === this.#mark) return
    await this.#replace(current)
  }

  /** null while nothing has ever been published. */
  async #readCurrent(): Promise<CurrentState | null> {
    const current = await this.#options.published.current()
    if (current === null && this.published !== null)
      throw new Error('the published snapshot is gone')
    return current
  }

  async #replace(current: CurrentState): Promise<void> {
    const startedAt = Date.now()
    const next = await this.#open(await current.read())
    const { fellows = alone, logger } = this.#options
    const mark = hashOf(32, [current.mark])
    const turn = () => this.#turnTo(next, current.mark)
    const hasTurned = await fellows.turnTo(mark, turn, this.#stop.signal)
    if (hasTurned) return logOpened(logger, next, startedAt)
    await next[Symbol.asyncDispose]()
    this.#isCheckWanted = !this.#stop.signal.aborted
  }

  #turnTo(next: OpenSnapshot, mark: string): void {
    this.#engines.retire(this.#current)
    this.#current = next
    this.#mark = mark
    this.#damaged = null
    this.#opened++
    this.#engines.release()
  }

  async #open(snapshot: Snapshot): Promise<OpenSnapshot> {
    try {
      return await this.#engines.open(snapshot, this.#current.facts)
    } catch (error) {
      // Opening is retried at each check; damage is searched for once.
      if (isDamage(error) && problemOf(error) !== this.#reported) await this.#findDamage(snapshot)
      throw error
    }
  }

  /** One line per problem, not one per check. */
  #report(error: unknown): void {
    const problem = problemOf(error)
    if (problem === this.#reported) return
    this.#reported = problem
    this.#options.logger.error('snapshot-refused', { problem, serving: this.published?.id ?? null })
  }
}

const problemOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

function logOpened(logger: Logger, { snapshot, model }: OpenSnapshot, startedAtMs: number): void {
  logger.info('snapshot-opened', {
    snapshot: snapshot.id,
    relations: snapshot.relations.length,
    ms: Date.now() - startedAtMs,
  })
  if (model.sharedKeys.length === 0) return
  logger.warn('navigation-left-out', {
    snapshot: snapshot.id,
    keys: model.sharedKeys.slice(0, NAMED).map(({ name, sets }) => `${name} of ${sets} sets`),
    more: Math.max(0, model.sharedKeys.length - NAMED),
    hint: `more than ${limits.setsOfOneKey} sets have this key: only those whose table is named after it are led to`,
  })
}
