// Lookups by key without the engine: rows of sets that are looked up often, in files (row-file.ts).
//
// A file is made from the published rows when about as much time was spent on lookups as that takes, one file at a time, and
// the engine answers meanwhile. It belongs to the rows and not to the snapshot, so a set that a new snapshot has
// unchanged keeps it, and of a set that it has changed a file can be made before anybody asks for it. Whatever is not
// found in it is left to the engine, which alone says that a row does not exist.

import { setTimeout as rest } from 'node:timers/promises'
import { limits } from '../../core/limits.ts'
import type { Logger } from '../../core/logger.ts'
import type { ModelName } from '../../core/names.ts'
import type { PublishedRelation } from '../../core/snapshot.ts'
import type { EntitySet } from '../edm/model.ts'
import { linesFile } from '../sql/csv.ts'
import { keyedRowsSql } from '../sql/keyed-rows.ts'
import { type AnswerFilesOptions, createAnswerFiles } from './answer-files.ts'
import type { Coming } from './current-snapshot.ts'
import type { OpenSnapshot } from './open-snapshot.ts'
import type { EngineAccess } from './query.ts'
import { factsKey, type KnownFacts } from './row-facts.ts'
import { RowFile } from './row-file.ts'

interface RowsOfSet {
  readonly snapshot: Pick<OpenSnapshot, 'snapshot' | 'facts'>
  /** Of that snapshot, for whoever sees all of its rows. */
  readonly set: EntitySet
  readonly onDamage: EngineAccess['onDamage']
}

export interface RowLookup extends RowsOfSet {
  /** The texts of its parts, as sql/keyed-rows.ts writes them. */
  readonly key: readonly string[]
}

export interface RowFiles extends AsyncDisposable {
  /** The row as the engine writes it; null where the engine is to be asked. */
  find(lookup: RowLookup): Buffer | null | Promise<Buffer | null>
  /** As find() where that needs no wait; null elsewhere. */
  findNow(lookup: RowLookup): Buffer | null
  /**
   * Makes files of the sets that are read from files now, so that they will be. Returns when that is done or has failed,
   * after limits.rowFilesAheadMs at the latest; what is being made then is finished.
   */
  prepare(coming: Coming): Promise<void>
  readonly stats: RowFileStats
}

export interface RowFileStats {
  readonly files: number
  readonly bytes: number
  /** Rows given since the start. */
  readonly found: number
}

/** Bounds of limits.ts, where they are to be others. */
export interface RowFileBounds {
  readonly lookupsBefore?: number
  readonly rowsPerLookupBefore?: number
  readonly files?: number
  readonly rows?: number
  readonly bytes?: number
  readonly aheadMs?: number
  readonly readMs?: number
}

export interface RowFilesOptions extends Pick<
  AnswerFilesOptions,
  'published' | 'threads' | 'memoryLimit' | 'tempDir' | 'admission' | 'timeLimitMs' | 'currentId'
> {
  /** Of the snapshot that is served. */
  readonly currentFacts: () => KnownFacts
  readonly logger: Logger
  readonly bounds?: RowFileBounds
}

/** Of a relation of one snapshot. */
interface Known {
  /** Of its rows; null until it is known. */
  rowsKey: string | null
  /** Of any snapshot, while this one is the youngest. */
  lookups: number
  /** Those that are taken to come, because they did in the snapshot before, and those since it had no file. */
  credit: number
  file: RowFile | null
  /** Nothing is made for it in this snapshot any more. */
  isRefused: boolean
}

export function createRowFiles(options: RowFilesOptions): RowFiles {
  const { published, admission, currentId, logger, bounds = {} } = options
  const most = {
    files: bounds.files ?? limits.rowFiles,
    rows: bounds.rows ?? limits.rowFileRows,
    bytes: bounds.bytes ?? limits.rowFilesBytes,
  }
  const { lookupsBefore = limits.lookupsBeforeRowFile } = bounds
  const { rowsPerLookupBefore = limits.rowsPerLookupBeforeRowFile } = bounds
  const { aheadMs = limits.rowFilesAheadMs } = bounds
  const answerFiles = createAnswerFiles({
    ...options,
    maxFiles: most.files + 1,
    maxBytes: most.bytes + limits.rowFileBytes,
    maxFileBytes: limits.rowFileBytes,
    keepsUnused: false,
  })
  const closing = new AbortController()
  const known = new WeakMap<PublishedRelation, Known>()
  const youngest = new Map<ModelName, Known>()
  /** By the keys of their rows. Those that were used last come last. */
  const files = new Map<string, RowFile>()
  let making: Promise<void> | null = null
  let keptFor = ''
  /** Of the snapshot that was prepared for last, until it is the current one. */
  let coming: KnownFacts | null = null
  let found = 0

  const sumOf = (of: 'rows' | 'bytes') =>
    Array.from(files.values()).reduce((sum, file) => sum + file[of], 0)

  function drop(key: string): void {
    const file = files.get(key)
    files.delete(key)
    void file?.[Symbol.asyncDispose]().catch(() => {}) // its descriptor is closed, whatever became of its name
  }

  function dropOldestWhile(isFull: () => boolean): void {
    for (const key of files.keys()) {
      if (!isFull()) return
      drop(key)
    }
  }

  /** What the current snapshot has not among its rows is not asked for any more. */
  function sweep(): void {
    if (keptFor === currentId()) return
    keptFor = currentId()
    const current = options.currentFacts()
    if (coming === current) coming = null
    for (const key of files.keys()) if (!current.has(key) && coming?.has(key) !== true) drop(key)
  }

  function begin(relation: PublishedRelation, rowsKey: string | null): Known {
    const earlier = youngest.get(relation.model)
    // As many are taken to come where a file was worthwhile, and half as many elsewhere.
    const credit = (earlier?.lookups ?? 0) / (earlier?.file == null ? 2 : 1)
    const begun: Known = { rowsKey, lookups: 0, credit, file: null, isRefused: false }
    known.set(relation, begun)
    youngest.set(relation.model, begun)
    return begun
  }

  function knownOf({ set: { relation }, snapshot }: RowLookup): Known {
    const before = known.get(relation)
    if (before !== undefined) return before
    const made = begin(relation, null)
    const learn = (key: string) => {
      made.rowsKey = key
      // The rows may have been written anew since the snapshot was opened.
      if (snapshot.facts.has(key)) made.file = files.get(key) ?? null
      else made.isRefused = true
    }
    factsKey(published, relation).then(learn, () => (made.isRefused = true))
    return made
  }

  function isWorthwhile({ rows }: PublishedRelation, { credit, isRefused }: Known): boolean {
    if (isRefused || making !== null || closing.signal.aborted) return false
    const enough = lookupsBefore + rows / rowsPerLookupBefore
    if (rows === 0 || rows > most.rows || credit < enough) return false
    // Where others always wait, lookups cost them more than the file does.
    const isMuch = credit >= enough * limits.rowFileDespiteWaiting
    return isMuch || admission.load.waiting === 0
  }

  /** Whether a file of these rows has room beside all others, if its rows are as long as those in `like`. */
  function fits({ rows }: PublishedRelation, like: RowFile): boolean {
    const bytes = (like.bytes / Math.max(1, like.rows)) * rows
    return (
      files.size < most.files &&
      sumOf('rows') + rows <= most.rows &&
      sumOf('bytes') + bytes <= most.bytes
    )
  }

  function start(wanted: RowsOfSet, of: Known, rowsKey: string): Promise<void> {
    making = make(wanted, of, rowsKey).finally(() => (making = null))
    return making
  }

  async function make(wanted: RowsOfSet, of: Known, rowsKey: string): Promise<void> {
    const { snapshot, set, onDamage } = wanted
    const { relation } = set
    const startedAt = performance.now()
    dropOldestWhile(() => files.size >= most.files || sumOf('rows') + relation.rows > most.rows)
    try {
      const order = {
        snapshot: snapshot.snapshot,
        key: rowsKey,
        isTimed: false,
        written: linesFile(keyedRowsSql(set)),
      }
      const request = { gone: closing.signal, onDamage }
      const lines = await answerFiles.lease(order, request)
      const file = await RowFile.open(lines, closing.signal, bounds.readMs)
      files.set(rowsKey, file)
      dropOldestWhile(() => files.size > 1 && sumOf('bytes') > most.bytes)
      if ((await factsKey(published, relation)) !== rowsKey)
        throw new Error('the rows have changed')
      of.file = file
      keptFor = '' // another snapshot may have become current meanwhile
      logger.debug('row-file-made', {
        model: relation.model,
        rows: file.rows,
        bytes: file.bytes,
        ms: Math.round(performance.now() - startedAt),
      })
    } catch (error) {
      refuse(of, error)
    }
  }

  async function makeAhead({ snapshot, onDamage }: Coming, signal: AbortSignal): Promise<void> {
    coming = snapshot.facts
    const nowOf = ({ relation }: EntitySet) => youngest.get(relation.model)
    const used = Array.from(snapshot.model.sets.values(), (set) => ({ set, now: nowOf(set) }))
      .filter(({ now }) => now?.file?.isClosed === false)
      .sort((a, b) => b.now!.lookups - a.now!.lookups)
    for (const { set, now } of used) {
      const { relation } = set
      const rowsKey = await factsKey(published, relation)
      if (signal.aborted) return
      // Otherwise the rows have been written anew since the snapshot was opened.
      if (!snapshot.facts.has(rowsKey)) continue
      await making
      if (signal.aborted) return
      const of = begin(relation, rowsKey)
      of.file = files.get(rowsKey) ?? null
      if (of.file === null && fits(relation, now!.file!) && isWorthwhile(relation, of))
        await start({ snapshot, set, onDamage }, of, rowsKey)
    }
  }

  function refuse(of: Known, error: unknown): void {
    of.isRefused = true
    of.file = null
    if (of.rowsKey !== null) drop(of.rowsKey)
    if (!closing.signal.aborted) logger.warn('row-file-failed', { error })
  }

  function read(of: Known, file: RowFile, key: readonly string[]) {
    const counted = (row: Buffer | null) => {
      if (row !== null) found++
      return row
    }
    const failed = (error: unknown) => {
      // Others may need its room meanwhile.
      if (!file.isClosed) refuse(of, error)
      return null
    }
    if (!file.isAtHand) return file.find(key).then(counted, failed)
    try {
      return counted(file.findNow(key))
    } catch (error) {
      return failed(error)
    }
  }

  function find(lookup: RowLookup): Buffer | null | Promise<Buffer | null> {
    sweep()
    const of = knownOf(lookup)
    const { file, rowsKey } = of
    youngest.get(lookup.set.relation.model)!.lookups++
    of.credit++
    if (rowsKey === null) return null
    if (file !== null && !file.isClosed) {
      files.delete(rowsKey)
      files.set(rowsKey, file)
      return read(of, file, lookup.key)
    }
    if (file !== null) {
      of.file = null
      of.credit = 1
    }
    const isCurrent = lookup.snapshot.snapshot.id === currentId()
    if (isCurrent && isWorthwhile(lookup.set.relation, of)) void start(lookup, of, rowsKey)
    return null
  }

  const timer = setInterval(sweep, limits.answerFileSweepMs)
  timer.unref()

  return {
    find,

    findNow(lookup) {
      if (known.get(lookup.set.relation)?.file?.isAtHand !== true) return null
      const row = find(lookup)
      return row instanceof Promise ? null : row
    },

    async prepare(next) {
      const ended = new AbortController()
      const signal = AbortSignal.any([ended.signal, closing.signal])
      const late = rest(aheadMs, undefined, { signal }).catch(() => {})
      const made = makeAhead(next, signal).catch((error) =>
        logger.warn('row-file-failed', { error }),
      )
      await Promise.race([made, late])
      ended.abort()
    },

    get stats() {
      return { files: files.size, bytes: sumOf('bytes'), found }
    },

    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      closing.abort()
      await making
      for (const key of files.keys()) drop(key)
      await answerFiles[Symbol.asyncDispose]()
    },
  }
}
