// The disk of a world. Its files are real ones below one directory, so that DuckDB can work there; of those that eider itself
// writes a RecordedDisk knows what was synced. A power cut replaces them all by what it may have left.
//
// What DuckDB writes by itself is taken to be on disk when a statement ends. In the middle of one that appends to its log,
// what is appended is torn; a checkpoint has happened or not.

import fs from 'node:fs'
import { constants } from 'node:os'
import { dirname, join, relative } from 'node:path'
import {
  change,
  contentAfterCut,
  type Inode,
  RecordedDisk,
  syncFile,
} from '../crash/recorded-disk.ts'
import type { World } from './world.ts'

type Files = ReadonlyMap<string, Buffer>

/** Blocks of the header of a database file: with the same ones it has the same content, whatever else was written to it. */
const HEADER_BYTES = 3 * 4096

/** What DuckDB goes on writing to, also after eider has cut its end. */
const IS_OF_ENGINE = /^warehouse\.duckdb(\.wal(\.checkpoint)?)?$/

export const SEGMENT = /buffer\/.*\.(open|sealed|claimed|returned)$/

/** Of a segment, with its directory: its name changes with its state. */
export const numberOfSegment = (path: string): string => path.replace(/(-\d+){2}\.\w+$/, '')

const real = { ...fs }

export class SimulatedDisk {
  /** Absolute; all below it is of this disk. */
  readonly root: string
  readonly #world: World
  #recorded = new RecordedDisk()
  readonly #numbers = new Map<Inode, number>()
  /** What operations that change something fail with, and how many of them. */
  trouble: { readonly code: 'ENOSPC' | 'EIO'; readonly share: number } | null = null

  constructor(world: World, root: string) {
    this.#world = world
    this.root = root
    real.rmSync(root, { recursive: true, force: true })
    real.mkdirSync(root, { recursive: true })
  }

  /** The path below the root; null for another disk. */
  below(path: unknown): string | null {
    const text = path instanceof URL ? path.pathname : String(path)
    if (text === this.root) return ''
    return text.startsWith(`${this.root}/`) ? relative(this.root, text) : null
  }

  /** Throws what the disk says instead of doing it. */
  refuse(path: string): void {
    const { trouble } = this
    if (trouble === null || !this.#world.chance(trouble.share)) return
    this.#world.note(`refused ${trouble.code} ${path}`)
    throw Object.assign(new Error(`${trouble.code}: ${path}`), {
      code: trouble.code,
      errno: -constants.errno[trouble.code],
      syscall: 'write',
      path,
    })
  }

  find(path: string): Inode | undefined {
    return this.#recorded.find(path)
  }

  /** The file of that name; one that the engine has made is on disk as it is. */
  fileOf(path: string): Inode | undefined {
    const known = this.#recorded.find(path)
    if (known !== undefined || IS_OF_ENGINE.test(path) || !isFile(join(this.root, path)))
      return known
    return this.#recorded.adopt(path, real.readFileSync(join(this.root, path)))
  }

  /** What a process sees as the number of a file. */
  numberOf(inode: Inode): number {
    const number = this.#numbers.get(inode) ?? this.#numbers.size + 1
    this.#numbers.set(inode, number)
    return number
  }

  /** Made by whoever opens it, if it is not there. None for what the engine writes to. */
  opened(path: string): Inode | undefined {
    return IS_OF_ENGINE.test(path) ? undefined : (this.fileOf(path) ?? this.created(path))
  }

  created(path: string): Inode {
    this.#recorded.open(-1, path, 'O_CREAT')
    return this.#recorded.find(path)!
  }

  written(inode: Inode, at: number, bytes: Buffer): void {
    change(inode, { at, bytes: Buffer.from(bytes) })
  }

  resized(inode: Inode, length: number): void {
    change(inode, { length })
  }

  synced(inode: Inode): void {
    syncFile(inode)
  }

  syncedDirectory(path: string): void {
    this.#recorded.sync(path === '' ? '.' : path)
  }

  renamed(from: string, to: string): void {
    this.fileOf(from)
    this.#recorded.move(from, to)
  }

  linked(from: string, to: string): void {
    this.fileOf(from)
    this.#recorded.link(from, to)
  }

  removed(path: string): void {
    for (const known of this.#recorded.files.keys())
      if (known === path || known.startsWith(`${path}/`)) this.#recorded.remove(known)
  }

  /** A bit of a file changes where it lies. */
  flip(path: string, bit: number): void {
    const inode = this.#recorded.find(path)!
    for (const of of ['synced', 'visible'] as const) {
      const bytes = Buffer.from(inode[of])
      if (bit >> 3 < bytes.length) bytes[bit >> 3]! ^= 1 << (bit & 7)
      inode[of] = bytes
    }
    real.writeFileSync(join(this.root, path), inode.visible)
    this.#world.note(`flipped ${path} ${bit}`)
  }

  /** As processes see them. */
  get names(): readonly string[] {
    return [...this.#recorded.files.keys()]
  }

  /** What DuckDB has written and nobody else has touched. */
  engineFiles(): Files {
    const files = new Map<string, Buffer>()
    for (const path of this.#all())
      if (this.#recorded.find(path) === undefined)
        files.set(path, real.readFileSync(join(this.root, path)))
    return files
  }

  #all(): readonly string[] {
    if (!real.existsSync(this.root)) return []
    return real
      .readdirSync(this.root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(this.root, join(entry.parentPath, entry.name)))
  }

  /** After a process is gone that had engines open: they may have written when they were closed. */
  putBack(files: Files): void {
    for (const path of this.engineFiles().keys())
      if (!files.has(path)) real.rmSync(join(this.root, path))
    for (const [path, bytes] of files) replace(join(this.root, path), bytes)
  }

  /** The power goes. `engine`: what DuckDB has left. */
  cut(engine: Files): void {
    const files = new Map([...this.#recorded.afterCut(this.#world.random), ...engine])
    for (const path of this.#all()) real.rmSync(join(this.root, path), { force: true })
    this.#recorded = new RecordedDisk()
    for (const [path, bytes] of files) {
      real.mkdirSync(dirname(join(this.root, path)), { recursive: true })
      real.writeFileSync(join(this.root, path), bytes)
      if (!engine.has(path)) this.#recorded.adopt(path, bytes)
      this.#world.note(
        `left ${path} ${engine.has(path) ? '' : JSON.stringify(bytes.toString('latin1'))}`,
      )
    }
  }

  /** Somebody renames the root. Who has files open goes on with them. */
  moveAway(): void {
    const to = `${this.root}.moved`
    real.rmSync(to, { recursive: true, force: true })
    if (real.existsSync(this.root)) real.renameSync(this.root, to)
    this.#recorded = new RecordedDisk()
    this.#world.note('moved away')
  }

  /** What a power cut leaves in the middle of what an engine did. */
  torn(before: Files, after: Files): Files {
    const left = new Map<string, Buffer>()
    const isCheckpoint = [...before].some(([path, bytes]) => {
      const now = after.get(path)
      return now === undefined || now.length < bytes.length || !hasHeaderOf(bytes, now)
    })
    if (isCheckpoint) return this.#world.chance(0.5) ? before : after
    for (const [path, bytes] of after) {
      const old = before.get(path) ?? Buffer.alloc(0)
      left.set(path, path.endsWith('.wal') ? this.#tornTail(old, bytes) : bytes)
    }
    return left
  }

  #tornTail(synced: Buffer, visible: Buffer): Buffer {
    if (visible.length === synced.length) return visible
    const pending = [{ at: synced.length, bytes: visible.subarray(synced.length) }]
    return contentAfterCut({ synced, visible, pending }, this.#world.random)
  }
}

function hasHeaderOf(before: Buffer, after: Buffer): boolean {
  if (before.toString('latin1', 8, 12) !== 'DUCK') return true
  return before.compare(after, 0, HEADER_BYTES, 0, HEADER_BYTES) === 0
}

const isFile = (path: string) => real.statSync(path, { throwIfNoEntry: false })?.isFile() === true

/** Under another inode: whoever has the old one open keeps it. */
function replace(path: string, bytes: Buffer): void {
  if (isFile(path) && real.readFileSync(path).equals(bytes)) return
  real.rmSync(path, { force: true })
  real.writeFileSync(path, bytes)
}
