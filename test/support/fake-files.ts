// A disk in memory that keeps its promises and no more. Written bytes and directory entries are seen at once, but until
// they are synced each of them may be gone after a power cut, in any combination. It can fill up, fail, and stop at the
// nth operation.

import { dirname, basename } from 'node:path'
import type { Files, OpenFile } from '../../src/buffer/files.ts'
import { applyChange, tear, type ContentChange } from './fake-content.ts'
import { seededRandom } from './seeded-random.ts'

export class PowerCutError extends Error {
  override name = 'PowerCutError'
}

/** What a power cut leaves of that which was not synced. */
export type Survival = 'nothing' | 'everything' | 'some'

interface Inode {
  onDisk: Buffer
  seen: Buffer
  unsynced: ContentChange[]
  changedAt: Date
}

/** Names that change together: a rename is one entry gone and one made. */
type EntryChange = readonly (readonly [name: string, node: Inode | null])[]

interface Directory {
  /** Its own entry in its parent is on disk. Without it a power cut takes the directory with all that is in it. */
  isOnDisk: boolean
  onDisk: Map<string, Inode>
  seen: Map<string, Inode>
  unsynced: EntryChange[]
}

interface FakeFilesOptions {
  readonly seed?: number
  /** false: syncs succeed without doing anything, as a disk that lies, or code that does not ask. */
  readonly syncs?: boolean
}

export class FakeFiles implements Files {
  /** Operations so far, by name. */
  readonly calls = new Map<string, number>()
  capacityBytes = Infinity
  /** Returns the error that an operation fails with; null lets it work. */
  fault: (operation: string, path: string) => Error | null = () => null
  readonly random: () => number
  readonly #syncs: boolean
  readonly #directories = new Map<string, Directory>([['/', emptyDirectory(true)]])
  #stop: { atOperation: number; afterIt: boolean } | null = null
  #operations = 0
  #off = false

  constructor({ seed = 1, syncs = true }: FakeFilesOptions = {}) {
    this.random = seededRandom(seed)
    this.#syncs = syncs
  }

  get operations(): number {
    return this.#operations
  }

  /** The power goes at the nth operation from now, before or after it takes effect. */
  stopAt(operation: number, when: 'before' | 'after'): void {
    this.#stop = { atOperation: this.#operations + operation, afterIt: when === 'after' }
  }

  get isOff(): boolean {
    return this.#off
  }

  /** The process that stopped is gone, and the power stays: whoever comes next reads what it has written, synced or not. */
  takeOver(): void {
    this.#off = false
    this.#stop = null
  }

  /** Power is back. Whoever used the disk before is taken to be gone. */
  restart(survival: Survival): void {
    for (const [path, directory] of this.#directories) {
      const isLost = !directory.isOnDisk && !this.#survives(survival)
      if (isLost || !this.#directories.has(dirname(path))) this.#directories.delete(path)
      else this.#cutDirectory(directory, survival)
    }
    this.takeOver()
  }

  async open(path: string, flags: 'r' | 'r+' | 'wx'): Promise<OpenFile> {
    return this.#operate('open', path, () => {
      const { directory, name } = this.#locate(path)
      let inode = directory.seen.get(name)
      if (flags === 'wx') {
        if (inode !== undefined) throw fileError('EEXIST', path)
        inode = { onDisk: empty, seen: empty, unsynced: [], changedAt: new Date() }
        this.#changeEntries(directory, [[name, inode]])
      }
      if (inode === undefined) throw fileError('ENOENT', path)
      return this.#openInode(inode, path)
    })
  }

  async rename(from: string, to: string): Promise<void> {
    this.#operate('rename', from, () => {
      const { directory, name } = this.#locate(from)
      const inode = directory.seen.get(name)
      if (inode === undefined) throw fileError('ENOENT', from)
      if (dirname(from) !== dirname(to)) throw fileError('EXDEV', to)
      inode.changedAt = new Date()
      this.#changeEntries(directory, [
        [name, null],
        [basename(to), inode],
      ])
    })
  }

  async unlink(path: string): Promise<void> {
    this.#operate('unlink', path, () => {
      const { directory, name } = this.#locate(path)
      if (!directory.seen.has(name)) throw fileError('ENOENT', path)
      this.#changeEntries(directory, [[name, null]])
    })
  }

  async mkdir(path: string): Promise<void> {
    this.#operate('mkdir', path, () => {
      if (this.#directories.has(path)) throw fileError('EEXIST', path)
      if (!this.#directories.has(dirname(path))) throw fileError('ENOENT', path)
      this.#directories.set(path, emptyDirectory(false))
    })
  }

  async readdir(path: string): Promise<string[]> {
    return this.#operate('readdir', path, () => {
      const directory = this.#directories.get(path)
      if (directory === undefined) throw fileError('ENOENT', path)
      const below = [...this.#directories.keys()].filter(
        (other) => other !== '/' && dirname(other) === path,
      )
      return [...directory.seen.keys(), ...below.map((other) => basename(other))]
    })
  }

  async fsyncDirectory(path: string): Promise<void> {
    this.#operate('fsyncDirectory', path, () => {
      const directory = this.#directories.get(path)
      if (directory === undefined) throw fileError('ENOENT', path)
      if (!this.#syncs) return
      directory.onDisk = new Map(directory.seen)
      directory.unsynced = []
      for (const [below, child] of this.#directories)
        if (dirname(below) === path) child.isOnDisk = true
    })
  }

  // For tests, not counted as operations.

  content(path: string): Buffer {
    const { directory, name } = this.#locate(path)
    const inode = directory.seen.get(name)
    if (inode === undefined) throw fileError('ENOENT', path)
    return inode.seen
  }

  /** Puts a file there, synced. */
  place(path: string, bytes: Buffer): void {
    const { directory, name } = this.#locate(path)
    const inode = { onDisk: bytes, seen: bytes, unsynced: [], changedAt: new Date() }
    directory.onDisk.set(name, inode)
    directory.seen.set(name, inode)
  }

  list(path: string): string[] {
    return [...(this.#directories.get(path)?.seen.keys() ?? [])].toSorted()
  }

  #operate<T>(operation: string, path: string, effect: () => T): T {
    if (this.#off) throw new PowerCutError()
    this.#operations += 1
    this.calls.set(operation, (this.calls.get(operation) ?? 0) + 1)
    const stopsHere = this.#operations === this.#stop?.atOperation
    if (stopsHere) this.#off = true
    if (stopsHere && !this.#stop?.afterIt) throw new PowerCutError()
    const fault = this.fault(operation, path)
    if (fault !== null) throw fault
    const result = effect()
    if (stopsHere) throw new PowerCutError()
    return result
  }

  #openInode(inode: Inode, path: string): OpenFile {
    const change = (made: ContentChange) => {
      inode.seen = applyChange(inode.seen, made)
      inode.unsynced.push(made)
    }
    const sync = (operation: string) => {
      try {
        this.#operate(operation, path, () => {
          if (this.#syncs) inode.onDisk = inode.seen
          if (this.#syncs) inode.unsynced = []
        })
      } catch (error) {
        // As Linux does: after a failed sync the pages count as clean, and the next sync has nothing to write.
        if (!(error instanceof PowerCutError)) inode.unsynced = []
        throw error
      }
    }
    return {
      stat: async () =>
        this.#operate('stat', path, () => ({
          sizeBytes: inode.seen.length,
          changedAt: inode.changedAt,
        })),
      read: async (into, position) =>
        this.#operate('read', path, () => {
          const bytes = inode.seen.subarray(position, position + into.length)
          into.set(bytes)
          return bytes.length
        }),
      write: (bytes, position) =>
        this.#operate('write', path, () => {
          const roomBytes = this.capacityBytes - this.#usedBytes()
          const growBytes = Math.max(0, position + bytes.length - inode.seen.length)
          const length = bytes.length - Math.max(0, growBytes - roomBytes)
          if (length <= 0) throw fileError('ENOSPC', path)
          change({ at: position, bytes: Buffer.from(bytes.subarray(0, length)) })
          return length
        }),
      truncate: async (sizeBytes) =>
        this.#operate('truncate', path, () => change({ truncateTo: sizeBytes })),
      fdatasync: async () => sync('fdatasync'),
      fsync: async () => sync('fsync'),
      close: async () => {},
    }
  }

  #usedBytes(): number {
    let bytes = 0
    for (const { seen } of this.#directories.values())
      for (const inode of seen.values()) bytes += inode.seen.length
    return bytes
  }

  #locate(path: string): { readonly directory: Directory; readonly name: string } {
    const directory = this.#directories.get(dirname(path))
    if (directory === undefined) throw fileError('ENOENT', path)
    return { directory, name: basename(path) }
  }

  #changeEntries(directory: Directory, change: EntryChange): void {
    applyEntries(directory.seen, change)
    directory.unsynced.push(change)
  }

  #cutDirectory(directory: Directory, survival: Survival): void {
    const inodes = new Set([...directory.onDisk.values(), ...directory.seen.values()])
    for (const change of directory.unsynced)
      if (this.#survives(survival)) applyEntries(directory.onDisk, change)
    directory.seen = new Map(directory.onDisk)
    directory.unsynced = []
    for (const inode of inodes) {
      for (const change of inode.unsynced)
        if (this.#survives(survival))
          inode.onDisk = applyChange(inode.onDisk, this.#cutShort(change, survival))
      inode.seen = inode.onDisk
      inode.unsynced = []
    }
  }

  /** A write that was under way may have reached the disk in part. */
  #cutShort(change: ContentChange, survival: Survival): ContentChange {
    return survival === 'everything' || this.random() < 0.5 ? change : tear(change, this.random())
  }

  #survives(survival: Survival): boolean {
    return survival === 'everything' || (survival === 'some' && this.random() < 0.5)
  }
}

const empty = Buffer.alloc(0)

function emptyDirectory(isOnDisk: boolean): Directory {
  return { isOnDisk, onDisk: new Map(), seen: new Map(), unsynced: [] }
}

function applyEntries(entries: Map<string, Inode>, change: EntryChange): void {
  for (const [name, inode] of change) {
    if (inode === null) entries.delete(name)
    else entries.set(name, inode)
  }
}

export function fileError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code })
}
