// The keys of requests that one target remembers (request-key.ts), in the order in which they came.

import { join } from 'node:path'
import { limits } from '../core/limits.ts'
import { errorCode, KeyReusedError } from './errors.ts'
import { readAll, writeAtomically, unlinkIfThere } from './files.ts'
import type { Place, Segment } from './recovery.ts'
import {
  type FoundKey,
  isKeysFileName,
  keysFileName,
  readKeys,
  type RequestKey,
  type StoredKey,
  writeKeys,
} from './request-key.ts'

export interface KeyLimits {
  /** A key is forgotten this long after its request. */
  readonly retentionMs: number
  /** Keys of one target; with more the oldest are forgotten. */
  readonly maxKeys: number
}

interface Remembered extends StoredKey {
  /** The sequence number of its first event; null when the key lies in a separate file, which is `file`. */
  readonly seq: number | null
  readonly file: string | null
  /** When it was accepted, by the clock of this process, which nobody sets. */
  readonly sinceMs: number
  /** Events of the request, once they are on disk. */
  readonly stored: Promise<number>
}

type KeyInFile = StoredKey & Pick<Remembered, 'seq' | 'file'>

interface KeysFile {
  readonly path: string
  /** Acceptance of the youngest request in it, by the clock of this process. */
  readonly newestMs: number
}

type KeyedSegment = Pick<Segment, 'name' | 'first' | 'last'>

export class KeyMemory {
  readonly #place: Place
  readonly #limits: KeyLimits
  readonly #requests = new Map<string, Remembered>()
  #keysFiles: readonly KeysFile[] = []
  /** Segments that are removed, or will be, whose keys are not on disk yet: until then a restart forgets them. */
  #unkept: readonly KeyedSegment[] = []
  /** Reported once, not at each attempt. */
  #isRefused = false
  #triedAtMs = -Infinity

  private constructor(place: Place, keyLimits: KeyLimits) {
    this.#place = place
    this.#limits = keyLimits
  }

  /** `found`: the keys in the segments of the directory. */
  static async open(
    place: Place,
    keyLimits: KeyLimits,
    found: readonly FoundKey[],
  ): Promise<KeyMemory> {
    const memory = new KeyMemory(place, keyLimits)
    const moved = await memory.#readKeysFiles()
    const inSegments = found.map((key) => ({ ...key, file: null }))
    const all = [...moved, ...inSegments].toSorted((a, b) => (a.time < b.time ? -1 : 1))
    for (const key of all) {
      const sinceMs = sinceOf(key.time)
      memory.#add({ ...key, sinceMs, stored: Promise.resolve(key.events) })
    }
    return memory
  }

  /** The outcome of the request with this key; null when there was none lately. Throws KeyReusedError. */
  find({ key, body }: RequestKey): Promise<number> | null {
    const known = this.#requests.get(key)
    if (known === undefined || this.#isOld(known.sinceMs)) return null
    if (known.body !== body) throw new KeyReusedError()
    return known.stored
  }

  /** From now on; a request whose group is rejected is forgotten again. `seq` is that of its first event. */
  remember(found: FoundKey, written: Promise<void>): Promise<number> {
    const stored = written.then(() => found.events)
    // Each member by its name: spreading the key costs 10 us, a sixth of an event (measured on Node 20).
    const { key, body, events, time, seq } = found
    const sinceMs = performance.now()
    const request = { key, body, events, time, seq, file: null, sinceMs, stored }
    this.#add(request)
    const forget = () => {
      if (this.#requests.get(found.key) === request) this.#requests.delete(found.key)
    }
    stored.catch(forget)
    return stored
  }

  /** Events of the segment without one of the keys `found` are lost, and may be sent again. */
  forgetOthers({ first, last }: Pick<Segment, 'first' | 'last'>, found: readonly FoundKey[]): void {
    const kept = new Set(found.map(({ key }) => key))
    for (const [key, { seq }] of this.#requests)
      if (seq !== null && first.seq <= seq && seq <= last.seq && !kept.has(key))
        this.#requests.delete(key)
  }

  /** Writes the keys of segments, ascending, to a separate file, before they are removed. false: the disk did not accept them. */
  async keep(segments: readonly KeyedSegment[]): Promise<boolean> {
    const numbers = new Set(segments.map(({ name }) => name.number))
    const waiting = this.#unkept.filter(({ name }) => !numbers.has(name.number))
    this.#unkept = [...waiting, ...segments]
    return await this.keepRest()
  }

  /** Does keepRest() as often as it makes sense to ask a disk again. */
  async retry(): Promise<void> {
    const nextMs = this.#triedAtMs + limits.retryAfterSeconds * 1000
    if (this.#unkept.length > 0 && performance.now() >= nextMs) await this.keepRest()
  }

  /** Retries what the disk has not accepted. */
  async keepRest(): Promise<boolean> {
    const last = this.#unkept.at(-1)
    if (last === undefined) return true
    const path = join(this.#place.directory, keysFileName(last.name.number))
    // The file is there already when a life before this one ended between its writing and the removal of the segment.
    const keys = [...this.#requests.values()].filter(
      ({ seq, file, sinceMs }) =>
        !this.#isOld(sinceMs) && (seq === null ? file === path : this.#isUnkept(seq)),
    )
    this.#triedAtMs = performance.now()
    try {
      await this.#removeOldFiles()
      if (keys.length > 0)
        await writeAtomically(this.#place, path, (write) => write(writeKeys(keys)))
    } catch (error) {
      const { directory, logger } = this.#place
      if (!this.#isRefused)
        logger.warn('keys-not-kept', { directory, code: errorCode(error), error: String(error) })
      this.#isRefused = true
      return false
    }
    this.#unkept = []
    if (this.#isRefused) this.#place.logger.info('keys-kept', { directory: this.#place.directory })
    this.#isRefused = false
    for (const known of keys) this.#requests.set(known.key, { ...known, seq: null, file: path })
    const others = this.#keysFiles.filter((file) => file.path !== path)
    if (keys.length > 0) this.#keysFiles = [...others, { path, newestMs: newestOf(keys) }]
    return true
  }

  #isUnkept(seq: number): boolean {
    return this.#unkept.some(({ first, last }) => first.seq <= seq && seq <= last.seq)
  }

  #add(request: Remembered): void {
    this.#requests.delete(request.key)
    this.#requests.set(request.key, request)
    for (const [key, { sinceMs }] of this.#requests) {
      if (this.#requests.size <= this.#limits.maxKeys && !this.#isOld(sinceMs)) break
      this.#requests.delete(key)
    }
  }

  async #readKeysFiles(): Promise<readonly KeyInFile[]> {
    const { directory, files, logger } = this.#place
    const read: KeyInFile[] = []
    for (const name of (await files.readdir(directory)).filter(isKeysFileName)) {
      const path = join(directory, name)
      const file = await files.open(path, 'r+')
      let keys: readonly StoredKey[] | null
      try {
        using content = await readAll(file)
        keys = readKeys(content.bytes)
      } finally {
        await file.close()
      }
      if (keys === null) logger.error('keys-damaged', { path })
      else {
        // One by one: a call takes some 120,000 arguments, and the setting allows more keys.
        for (const key of keys) read.push({ ...key, seq: null, file: path })
        const ages = keys.map(({ time }) => ({ sinceMs: sinceOf(time) }))
        this.#keysFiles = [...this.#keysFiles, { path, newestMs: newestOf(ages) }]
      }
    }
    await this.#removeOldFiles()
    return read
  }

  async #removeOldFiles(): Promise<void> {
    const old = this.#keysFiles.filter(({ newestMs }) => this.#isOld(newestMs))
    for (const { path } of old) await unlinkIfThere(this.#place.files, path)
    this.#keysFiles = this.#keysFiles.filter((file) => !old.includes(file))
  }

  #isOld(sinceMs: number): boolean {
    return !(performance.now() - sinceMs <= this.#limits.retentionMs)
  }
}

/**
 * The clock of the system may be set while this process lives, by a day for a second too, and would have all keys
 * forgotten. So it says only how old a key is that comes here from the disk.
 */
const sinceOf = (time: string): number => performance.now() - (Date.now() - Date.parse(time))

const newestOf = (keys: readonly Pick<Remembered, 'sinceMs'>[]): number =>
  keys.reduce((newest, { sinceMs }) => Math.max(newest, sinceMs), -Infinity)
