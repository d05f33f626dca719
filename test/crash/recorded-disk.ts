// A disk as strace has seen a process use it: what each call wrote, and what was synced when. It can be asked what a power
// cut at any call may leave.
//
// Of the bytes of a file that were not synced any may be missing, in sectors of 512 bytes or at any byte, with zeros in
// their place where later ones are there; the file may be as long as it was meant to be, or shorter. Names in a directory
// that was not synced are as after any number of the calls that changed them, in their order. Directories stay.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { seededRandom } from '../support/seeded-random.ts'

type Random = ReturnType<typeof seededRandom>

/** Calls that change files, or say which file a descriptor is. */
const TRACED =
  'openat,lseek,write,pwrite64,writev,pwritev,fsync,fdatasync,ftruncate,rename,renameat,renameat2,unlink,unlinkat,link,linkat,copy_file_range,sendfile,fallocate,ioctl'

/** Arguments of strace before the command that it starts. `path`: where it writes. */
export const straceTo = (path: string): readonly string[] =>
  `-f -y -qq -x -s ${2 ** 26} -e trace=${TRACED} -e signal=none -o`.split(' ').concat(path)

const SECTOR_BYTES = 512

interface Written {
  readonly at: number
  readonly bytes: Buffer
}
type Change = Written | { readonly length: number }

export interface Inode {
  synced: Buffer
  /** What was done since, in its order. */
  pending: Change[]
  /** As a process sees it. */
  visible: Buffer
}

interface Renaming {
  readonly directories: readonly string[]
  readonly gone: string | null
  readonly made: { readonly path: string; readonly inode: Inode } | null
}

export interface Call {
  /** What it is about, below the directory. */
  readonly path: string
  readonly isWrite: boolean
  readonly act: (disk: RecordedDisk) => void
}

/** Files of one directory, by paths below it. */
export class RecordedDisk {
  readonly #synced = new Map<string, Inode>()
  readonly #visible = new Map<string, Inode>()
  #renamings: Renaming[] = []
  /** By descriptor: where a write without a position goes. */
  readonly #positions = new Map<number, number | 'end'>()

  /** All that is in the directory is on disk. */
  static async of(directory: string): Promise<RecordedDisk> {
    const disk = new RecordedDisk()
    for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      const bytes = await readFile(path)
      const inode = { synced: bytes, visible: bytes, pending: [] }
      disk.#synced.set(relative(directory, path), inode)
      disk.#visible.set(relative(directory, path), inode)
    }
    return disk
  }

  open(fd: number, path: string, flags: string): void {
    this.#positions.set(fd, flags.includes('O_APPEND') ? 'end' : 0)
    if (!this.#visible.has(path) && flags.includes('O_CREAT')) {
      const inode = { synced: Buffer.alloc(0), visible: Buffer.alloc(0), pending: [] }
      this.#rename({ directories: [dirname(path)], gone: null, made: { path, inode } })
    }
    const inode = this.#visible.get(path)
    if (flags.includes('O_TRUNC') && inode !== undefined && inode.visible.length > 0)
      change(inode, { length: 0 })
  }

  seek(fd: number, at: number): void {
    if (this.#positions.get(fd) !== 'end') this.#positions.set(fd, at)
  }

  /** `at`: null where the descriptor is. */
  write(fd: number, path: string, bytes: Buffer, at: number | null): void {
    const inode = this.#visible.get(path)
    if (inode === undefined) return
    const position = this.#positions.get(fd) ?? 0
    const from = at ?? (position === 'end' ? inode.visible.length : position)
    change(inode, { at: from, bytes })
    if (at === null && position !== 'end') this.#positions.set(fd, from + bytes.length)
  }

  copy(from: string, fd: number, to: string, bytes: number): void {
    const source = this.#visible.get(from)
    const position = this.#positions.get(fd) ?? 0
    const at = position === 'end' ? 0 : position
    if (source !== undefined) this.write(fd, to, source.visible.subarray(at, at + bytes), null)
  }

  truncate(path: string, length: number): void {
    const inode = this.#visible.get(path)
    if (inode !== undefined) change(inode, { length })
  }

  sync(path: string): void {
    const inode = this.#visible.get(path)
    if (inode !== undefined) return syncFile(inode)
    for (const renaming of this.#renamings)
      if (renaming.directories.includes(path)) apply(this.#synced, renaming)
    this.#renamings = this.#renamings.filter(({ directories }) => !directories.includes(path))
  }

  /** The file of that name, which may get another one later. */
  find(path: string): Inode | undefined {
    return this.#visible.get(path)
  }

  /** A file that something else has written and synced, such as the engine. */
  adopt(path: string, bytes: Buffer): Inode {
    const inode = { synced: bytes, visible: bytes, pending: [] }
    this.#synced.set(path, inode)
    this.#visible.set(path, inode)
    return inode
  }

  move(from: string, to: string): void {
    const inode = this.#visible.get(from)
    if (inode === undefined) return
    const directories = [dirname(from), dirname(to)]
    this.#rename({ directories, gone: from, made: { path: to, inode } })
  }

  link(from: string, to: string): void {
    const inode = this.#visible.get(from)
    if (inode !== undefined)
      this.#rename({ directories: [dirname(to)], gone: null, made: { path: to, inode } })
  }

  remove(path: string): void {
    this.#rename({ directories: [dirname(path)], gone: path, made: null })
  }

  #rename(renaming: Renaming): void {
    apply(this.#visible, renaming)
    this.#renamings.push(renaming)
  }

  /** As the process has left it. */
  get files(): ReadonlyMap<string, Buffer> {
    return new Map(Array.from(this.#visible, ([path, { visible }]) => [path, visible]))
  }

  /** As a power cut may leave it now. */
  afterCut(random: Random): ReadonlyMap<string, Buffer> {
    const names = new Map(this.#synced)
    const directories = new Set(this.#renamings.flatMap((renaming) => renaming.directories))
    const kept = new Map<string, number>()
    for (const directory of directories) {
      const all = this.#renamings.filter((renaming) => renaming.directories.includes(directory))
      kept.set(directory, oneOf(random, [0, all.length, Math.floor(random() * (all.length + 1))]))
    }
    for (const renaming of this.#renamings) {
      const [first = ''] = renaming.directories
      const left = kept.get(first)!
      if (left === 0) continue
      kept.set(first, left - 1)
      apply(names, renaming)
    }
    return new Map(Array.from(names, ([path, inode]) => [path, contentAfterCut(inode, random)]))
  }
}

export async function writeFiles(
  directory: string,
  files: ReadonlyMap<string, Buffer>,
): Promise<void> {
  for (const [path, bytes] of files) {
    await mkdir(join(directory, dirname(path)), { recursive: true })
    await writeFile(join(directory, path), bytes)
  }
}

function apply(names: Map<string, Inode>, { gone, made }: Renaming): void {
  if (gone !== null) names.delete(gone)
  if (made !== null) names.set(made.path, made.inode)
}

const oneOf = <T>(random: Random, choices: readonly T[]): T =>
  choices[Math.floor(random() * choices.length)]!

export function syncFile(inode: Inode): void {
  inode.synced = inode.visible
  inode.pending = []
}

export function change(inode: Inode, done: Change): void {
  inode.visible = changed(inode.visible, done)
  inode.pending.push(done)
}

function changed(before: Buffer, done: Change): Buffer {
  if ('length' in done) return resized(before, done.length)
  const after = Buffer.from(resized(before, Math.max(before.length, done.at + done.bytes.length)))
  done.bytes.copy(after, done.at)
  return after
}

const resized = (bytes: Buffer, length: number): Buffer =>
  length <= bytes.length
    ? bytes.subarray(0, length)
    : Buffer.concat([bytes, Buffer.alloc(length - bytes.length)])

type Loss = 'all' | 'none' | 'end' | 'sectors' | 'bytes'

export function contentAfterCut({ synced, pending, visible }: Inode, random: Random): Buffer {
  if (pending.length === 0) return synced
  const loss = oneOf<Loss>(random, ['all', 'none', 'end', 'sectors', 'bytes'])
  if (loss === 'none') return visible
  if (loss === 'all') return synced
  const pieces = pending.flatMap((done): Change[] => ('length' in done ? [done] : sectorsOf(done)))
  const kept = loss === 'end' ? Math.floor(random() * pieces.length) : pieces.length
  const share = oneOf(random, [0.1, 0.5, 0.9])
  let content = synced
  for (const piece of pieces.slice(0, kept)) {
    if ('length' in piece) {
      content = changed(content, piece)
      continue
    }
    if (loss !== 'end' && random() > share) continue
    const { at, bytes } = piece
    const isTorn = loss === 'bytes' && random() < 0.3
    const part = isTorn ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes
    content = changed(content, { at, bytes: part })
  }
  // The length of a file may be on disk before what is in it.
  if (content.length < visible.length && random() < 0.5) content = resized(content, visible.length)
  return content
}

function sectorsOf({ at, bytes }: Written): Written[] {
  const sectors: Written[] = []
  for (let start = 0; start < bytes.length;) {
    const end = Math.min(bytes.length, start + SECTOR_BYTES - ((at + start) % SECTOR_BYTES))
    sectors.push({ at: at + start, bytes: bytes.subarray(start, end) })
    start = end
  }
  return sectors
}
