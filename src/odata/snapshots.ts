// The published snapshot that requests are answered from, and its replacement by newer ones while requests run.
//
// Each snapshot has an engine of its own, in which the file of each set is attached for reading. A new manifest opens
// a new engine; then one assignment makes it the current one. A request holds a lease on the snapshot it began with,
// and an engine is closed when it is neither current nor among the last ones and nobody holds a lease on it. A link can
// ask for an earlier one as long as a run keeps its files: it is opened again then.

import { type FSWatcher, watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../core/limits.ts'
import type { Logger } from '../core/logger.ts'
import { MANIFEST_FILE, parseManifest, type Snapshot } from '../core/snapshot.ts'
import { keptSnapshots, readKeptSnapshot } from './kept-snapshots.ts'
import { type EngineOptions, filesAre, OpenSnapshot } from './open-snapshot.ts'

export interface SnapshotsOptions extends EngineOptions {
  readonly logger: Logger
}

interface Retired {
  readonly snapshot: OpenSnapshot
  readonly sinceMs: number
}

interface Damaged {
  readonly manifest: string | null
  /** What its files were; a run that writes one anew may leave the manifest as it is. */
  readonly files: Promise<string>
}

/** Before the first publish: nothing is served. */
const NOTHING: Snapshot = { id: 'none', publishedAt: new Date(0), runId: '', relations: [] }

export class Snapshots implements AsyncDisposable {
  readonly #options: SnapshotsOptions
  #current: OpenSnapshot
  #retired: Retired[] = []
  /** The text of the manifest that `current` was opened from. */
  #manifest: string | null = null
  /** The same of a snapshot in which a query has met a damaged file; one before it is current then. */
  #damaged: Damaged | null = null
  #opened = 0
  #reported: string | null = null
  #watcher: FSWatcher | null = null
  #timer: NodeJS.Timeout | null = null
  #checking: Promise<void> | null = null
  #isCheckWanted = false
  /** Kept snapshots that are being opened: links of one snapshot come many at a time. */
  readonly #opening = new Map<string, Promise<OpenSnapshot | null>>()

  private constructor(options: SnapshotsOptions, current: OpenSnapshot) {
    this.#options = options
    this.#current = current
  }

  /** Opens what is published now, or nothing yet, and follows the manifest from then on. */
  static async open(options: SnapshotsOptions): Promise<Snapshots> {
    const snapshots = new Snapshots(options, await OpenSnapshot.open(NOTHING, options))
    await snapshots.check()
    if (snapshots.isRefused) await snapshots.#goBack()
    if (snapshots.published === null)
      options.logger.warn('no-snapshot', { hint: 'nothing is published yet: eider run' })
    snapshots.#timer = setInterval(() => void snapshots.check(), limits.snapshotPollMs)
    return snapshots
  }

  /** The current snapshot; null before the first publish. */
  get published(): Snapshot | null {
    return this.#current.snapshot === NOTHING ? null : this.#current.snapshot
  }

  /** Of the snapshot that a request without a next link is answered from; before the first publish as well. */
  get currentId(): string {
    return this.#current.snapshot.id
  }

  /** Snapshots taken up since the start. */
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

  /** A lease on the current snapshot or on one that is kept on disk; null when `id` is neither. */
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

  /** To be told that a query has met a damaged file of the snapshot. An earlier snapshot is served from then on. */
  async reportDamage(snapshot: Snapshot, error: unknown): Promise<void> {
    if (snapshot !== this.#current.snapshot) return
    if (this.#damaged !== null && this.#manifest === this.#damaged.manifest) return
    const files = filesAre(this.#options.dir, snapshot)
    this.#damaged = { manifest: this.#manifest, files }
    await files // before anybody hears of it and mends them
    await this.#goBack()
    this.#report(error)
  }

  /** Makes the youngest earlier snapshot that can be opened the current one. Where there is none, all stays as it is. */
  async #goBack(): Promise<void> {
    const before = this.#current
    for (const kept of await keptSnapshots(this.#options.dir)) {
      if (kept.id === before.snapshot.id) continue
      const earlier = await this.leaseById(kept.id)
      if (earlier === null || this.#current !== before) continue
      this.#retired.unshift({ snapshot: before, sinceMs: Date.now() })
      this.#current = earlier
      return
    }
  }

  /** What was published under that id; null when a run keeps it no longer. */
  async manifestOf(id: string): Promise<Snapshot | null> {
    return this.#openById(id)?.snapshot ?? (await readKeptSnapshot(this.#options.dir, id))
  }

  /** How an engine on the same files is opened. */
  get engineOptions(): EngineOptions {
    return this.#options
  }

  /** Logs that files of a kept snapshot cannot be opened: a run has just deleted them, or they are damaged. */
  reportKept(id: string, error: unknown): void {
    this.#options.logger.warn('kept-snapshot-refused', { snapshot: id, error })
  }

  #openById(id: string): OpenSnapshot | undefined {
    const open = [this.#current, ...this.#retired.map(({ snapshot }) => snapshot)]
    return open.find((candidate) => candidate.snapshot.id === id)
  }

  /** A snapshot of a link that was given before this service started, or long ago. */
  async #openKept(id: string): Promise<OpenSnapshot | null> {
    const kept = await readKeptSnapshot(this.#options.dir, id)
    if (kept === null) return null
    try {
      const snapshot = await OpenSnapshot.open(kept, this.#options)
      this.#retired.unshift({ snapshot, sinceMs: Date.now() })
      return snapshot
    } catch (error) {
      this.reportKept(id, error)
      return null
    }
  }

  /** Looks at the manifest once more. Never throws: what is wrong is logged and looked at again later. */
  check(): Promise<void> {
    this.#isCheckWanted = true
    this.#checking ??= this.#checkWhileWanted()
    return this.#checking
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#watcher?.close()
    await this.#checking
    for (const { snapshot } of this.#retired) await snapshot[Symbol.asyncDispose]()
    await this.#current[Symbol.asyncDispose]()
  }

  /** What is asked for during a look is another look: the manifest may have changed behind the first. */
  async #checkWhileWanted(): Promise<void> {
    while (this.#isCheckWanted) {
      this.#isCheckWanted = false
      this.#watch()
      try {
        await this.#release()
        await this.#follow()
        this.#reported = null
      } catch (error) {
        this.#report(error)
      }
    }
    this.#checking = null
  }

  async #follow(): Promise<void> {
    const text = await this.#readManifest()
    if (text === null) return
    if (text === this.#damaged?.manifest) {
      const files = await filesAre(this.#options.dir, parseManifest(text))
      if (files === (await this.#damaged.files)) throw new Error(this.#reported ?? 'damaged')
    } else if (text === this.#manifest) return
    await this.#replace(text)
  }

  /** null while nothing has ever been published. */
  async #readManifest(): Promise<string | null> {
    try {
      return await readFile(join(this.#options.dir, MANIFEST_FILE), 'utf8')
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
      if (isMissing && this.#manifest === null) return null
      throw error
    }
  }

  async #replace(manifest: string): Promise<void> {
    const startedAt = Date.now()
    const next = await OpenSnapshot.open(parseManifest(manifest), this.#options)
    this.#retired.unshift({ snapshot: this.#current, sinceMs: Date.now() })
    this.#current = next
    this.#manifest = manifest
    this.#damaged = null
    this.#opened++
    this.#options.logger.info('snapshot-opened', {
      snapshot: next.snapshot.id,
      relations: next.snapshot.relations.length,
      ms: Date.now() - startedAt,
    })
  }

  /** Lets go of retired snapshots that are too many or too old. */
  async #release(): Promise<void> {
    const oldest = Date.now() - limits.openEarlierSnapshotMs
    const isKept = ({ sinceMs }: Retired, i: number) =>
      i < limits.openEarlierSnapshots && sinceMs >= oldest
    const released = this.#retired.filter((retired, i) => !isKept(retired, i))
    this.#retired = this.#retired.filter(isKept)
    for (const { snapshot } of released) await snapshot[Symbol.asyncDispose]()
  }

  /** File events make a swap prompt; where there are none, the timer finds it. */
  #watch(): void {
    if (this.#watcher !== null) return
    try {
      this.#watcher = watch(this.#options.dir, { persistent: false }, (_, file) => {
        if (file === null || file === MANIFEST_FILE) void this.check()
      })
    } catch {
      return // the directory does not exist before the first publish
    }
    this.#watcher.on('error', () => {
      this.#watcher?.close()
      this.#watcher = null
    })
  }

  /** One line per trouble, not one per look at it. */
  #report(error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error)
    if (problem === this.#reported) return
    this.#reported = problem
    this.#options.logger.error('snapshot-refused', { problem, serving: this.published?.id ?? null })
  }
}
