// Lookups by key without the engine: rows of sets that are looked up often, in files (row-file.ts).
//
// A file is made from the published rows when about as much time was spent on lookups as that takes, one file at a time, and
// the engine answers meanwhile. It belongs to the rows and not to the snapshot, so a set that a new snapshot has
// unchanged keeps it. What is not found in it is left to the engine, unless the file shows that there is no such row.
//
// Readers who see some of the rows only have files of their own, with these alone: one for each filter, whose ever it is.

import { LRUCache } from 'lru-cache'
import { limits } from '../../../core/limits.ts'
import type { Logger } from '../../../core/logger.ts'
import type { EntitySet } from '../../edm/model.ts'
import type { Admission } from '../admission.ts'
import type { Snapshots } from '../current-snapshot.ts'
import type { EngineOptions } from '../snapshot-engines.ts'
import { factsKey } from '../row-facts.ts'
import type { PlacedRow, RowLookup, RowsByKey, RowsByKeyStats } from '../rows-by-key.ts'
import { RowFile } from './row-file.ts'

/** Bounds that differ from those of limits.ts. */
export interface RowFileBounds {
  readonly lookupsBefore?: number
  readonly rowsPerLookupBefore?: number
  readonly files?: number
  readonly rows?: number
  readonly bytes?: number
  readonly readMs?: number
}

export interface RowFilesOptions extends EngineOptions {
  readonly snapshots: Pick<Snapshots, 'currentId' | 'currentFacts' | 'reportDamage'>
  readonly admission: Admission
  /** Time in which a file must be made. */
  readonly timeLimitMs: number
  readonly logger: Logger
  readonly bounds?: RowFileBounds
}

/** How a set is used whose rows have this key, by those who see the same of them. */
interface Use {
  readonly rowsKey: string
  readonly fileKey: string
  /** Half of them are forgotten when the rows change: a set that stays in use soon has its next file. */
  lookups: number
  isRefused: boolean
}

/** What a file takes of all bounds together, in parts of this. */
const WHOLE = 1_000_000

export class RowFiles implements RowsByKey, AsyncDisposable {
  readonly #options: RowFilesOptions
  readonly #most: Required<RowFileBounds>
  /** By what `fileKeyOf` gives. */
  readonly #files: LRUCache<string, RowFile>
  readonly #uses = new LRUCache<string, Use>({ max: limits.rowFileUses })
  readonly #closing = new AbortController()
  #making: Promise<void> | null = null
  /** The snapshot whose files are kept. */
  #keptFor = ''
  #found = 0

  constructor(options: RowFilesOptions) {
    this.#options = options
    this.#most = {
      lookupsBefore: limits.lookupsBeforeRowFile,
      rowsPerLookupBefore: limits.rowsPerLookupBeforeRowFile,
      files: limits.rowFiles,
      rows: limits.rowFileRows,
      bytes: limits.rowFilesBytes,
      readMs: limits.rowReadMs,
      ...options.bounds,
    }
    const { files, rows, bytes } = this.#most
    this.#files = new LRUCache({
      max: files,
      maxSize: WHOLE,
      sizeCalculation: ({ file }) =>
        Math.min(WHOLE, Math.ceil(WHOLE * Math.max(file.rows / rows, file.bytes / bytes))),
      dispose: (file) => void file[Symbol.asyncDispose]().catch(() => {}),
    })
  }

  find(lookup: RowLookup): Buffer | null {
    return this.#ask(lookup, (file) => file.find(lookup.key))
  }

  findAll(lookup: RowLookup): readonly PlacedRow[] | null {
    return this.#ask(lookup, (file) => file.findAll(lookup.key))
  }

  lacks(lookup: RowLookup): boolean {
    const use = this.#useFor(lookup)
    const file = use === null ? undefined : this.#files.get(use.fileKey)
    if (use === null || file === undefined) return false
    return this.#read(file, use, (rows) => rows.lacks(lookup.key) || null) ?? false
  }

  #ask<Found>(lookup: RowLookup, ask: (file: RowFile) => Found | null): Found | null {
    const { set } = lookup
    const use = this.#useFor(lookup)
    if (use === null) return null
    use.lookups++
    const file = this.#files.get(use.fileKey)
    if (file !== undefined) return this.#read(file, use, ask)
    if (this.#isWorthwhile(set.relation.rows, use))
      this.#making = this.#make(lookup, use).finally(() => (this.#making = null))
    return null
  }

  stats(): RowsByKeyStats {
    const bytes = Array.from(this.#files.values()).reduce((sum, { file }) => sum + file.bytes, 0)
    return { files: this.#files.size, bytes, found: this.#found }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await this.#making
    const files = Array.from(this.#files.values())
    this.#files.clear()
    await Promise.all(files.map((file) => file[Symbol.asyncDispose]().catch(() => {})))
  }

  /** Files of rows that the current snapshot does not have. */
  #dropEarlier(): void {
    const { currentId, currentFacts } = this.#options.snapshots
    if (this.#keptFor === currentId) return
    this.#keptFor = currentId
    for (const key of this.#files.keys())
      if (!currentFacts.has(rowsKeyOf(key))) this.#files.delete(key)
  }

  /** null for rows that are not those of the current snapshot. */
  #useFor({ snapshot, set }: RowLookup): Use | null {
    const rowsKey = snapshot.rowsKeys.get(set.relation.model)
    if (rowsKey === undefined || snapshot.snapshot.id !== this.#options.snapshots.currentId)
      return null
    this.#dropEarlier()
    return this.#useOf(set, rowsKey)
  }

  #useOf(set: EntitySet, rowsKey: string): Use {
    const name = fileKeyOf(set.relation.model, set)
    const use = this.#uses.get(name)
    if (use?.rowsKey === rowsKey) return use
    const fileKey = fileKeyOf(rowsKey, set)
    const next = { rowsKey, fileKey, lookups: (use?.lookups ?? 0) / 2, isRefused: false }
    this.#uses.set(name, next)
    return next
  }

  #isWorthwhile(rows: number, { lookups, isRefused }: Use): boolean {
    const { lookupsBefore, rowsPerLookupBefore, rows: most } = this.#most
    if (isRefused || rows === 0 || rows > most) return false
    const enough = lookupsBefore + rows / rowsPerLookupBefore
    return lookups >= enough && this.#making === null && !this.#closing.signal.aborted
  }

  #read<Found>(file: RowFile, use: Use, ask: (file: RowFile) => Found | null): Found | null {
    try {
      const found = ask(file)
      if (found !== null) this.#found++
      return found
    } catch (error) {
      this.#refuse(use, error)
      return null
    }
  }

  #refuse(use: Use, error: unknown): void {
    use.isRefused = true
    this.#files.delete(use.fileKey)
    if (!this.#closing.signal.aborted) this.#options.logger.warn('row-file-failed', { error })
  }

  async #make({ snapshot: { snapshot }, set }: RowLookup, use: Use): Promise<void> {
    const { published, snapshots, logger } = this.#options
    const { model } = set.relation
    const startedAt = performance.now()
    try {
      const file = await RowFile.make(snapshot, set, {
        ...this.#options,
        readMs: this.#most.readMs,
        signal: this.#closing.signal,
        onDamage: (error) => void snapshots.reportDamage(snapshot, error),
      })
      const relation = snapshot.relations.find((one) => one.model === model)!
      if ((await factsKey(published, relation)) !== use.rowsKey) {
        await file[Symbol.asyncDispose]()
        throw new Error('the rows have changed')
      }
      this.#files.set(use.fileKey, file)
      this.#keptFor = '' // another snapshot may have become the current one meanwhile
      const ms = Math.round(performance.now() - startedAt)
      const { rows, bytes } = file.file
      logger.debug('row-file-made', { model, rows, bytes, ms })
    } catch (error) {
      this.#refuse(use, error)
    }
  }
}

/** A key has no space in it, and neither has the name of a model. */
const fileKeyOf = (rowsKey: string, { only }: EntitySet): string =>
  only.length === 0 ? rowsKey : `${rowsKey} ${JSON.stringify(only.map(({ text }) => text))}`

const rowsKeyOf = (fileKey: string): string => fileKey.split(' ', 1)[0]!
