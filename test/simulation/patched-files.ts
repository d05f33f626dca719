// The functions of node:fs that eider uses, on the disk of a world: each waits for its turn, may be refused, and is told to
// the disk. Paths that are not below its root wait for their turn too.

import fs from 'node:fs'
import { Readable } from 'node:stream'
import type { Inode } from '../crash/recorded-disk.ts'
import { type Call, patch } from './patch.ts'
import type { SimulatedDisk } from './simulated-disk.ts'
import type { SimulatedProcess } from './world.ts'

const real = { ...fs }

let disk: SimulatedDisk

/** From now on they are on this disk. */
export const useDisk = (next: SimulatedDisk): void => {
  disk = next
}

/** By descriptor, of what processes have open. */
const opened = new Map<
  number,
  {
    readonly process: SimulatedProcess
    readonly path: string
    readonly inode: Inode | undefined
  }
>()

export function patchFiles(): void {
  for (const name of [
    'readFile',
    'access',
    'realpath',
    'lstat',
    'statfs',
    'chmod',
    'readdir',
    'stat',
  ])
    inTurn(name, (now, args) => {
      const result = now(...args)
      if (Array.isArray(result)) return (result as string[]).toSorted()
      return name.endsWith('stat') ? asSeen(args[0], result as fs.Stats) : result
    })
  inTurn('open', open)
  patchChanges()
  patchNow()
}

/** `now`: what does the same at once, which is quicker, since nothing else goes on meanwhile. */
type InTurn = (now: Call, args: unknown[], process: SimulatedProcess) => unknown

function inTurn(name: string, perform: InTurn): void {
  const now = Reflect.get(real, `${name}Sync`) as Call
  patch(fs.promises, name, (process, _, args) =>
    process.world.ask(process, `${name} ${shown(args[0])}`, () => perform(now, args, process)),
  )
}

const shown = (path: unknown) => disk.below(path) ?? String(path).replace(/.*\//, '…/')

/** Times and numbers of the system under the world would differ each time. */
function asSeen<T extends fs.Stats | fs.BigIntStats>(path: unknown, stats: T): T {
  const below = disk.below(path)
  return below === null ? stats : numbered(stats, disk.find(below))
}

function numbered<T extends fs.Stats | fs.BigIntStats>(stats: T, inode: Inode | undefined): T {
  const number = inode === undefined ? 0 : disk.numberOf(inode)
  const isBig = typeof stats.ino === 'bigint'
  Reflect.set(stats, 'ino', isBig ? BigInt(number) : number)
  return stats
}

function patchChanges(): void {
  changing('rename', 2, (now, [from, to]) => {
    now(from, to)
    disk.renamed(below(from), below(to))
  })
  changing('link', 2, (now, [from, to]) => {
    now(from, to)
    disk.linked(below(from), below(to))
  })
  changing('unlink', 1, (now, [path]) => {
    now(path)
    disk.removed(below(path))
  })
  changing('rm', 1, (now, [path, options]) => {
    now(path, options)
    disk.removed(below(path))
  })
  changing('mkdir', 1, (now, args) => now(...args))
  changing('writeFile', 1, (now, [path, data]) => {
    const inode = disk.fileOf(below(path)) ?? disk.created(below(path))
    now(path, data)
    disk.resized(inode, 0)
    disk.written(inode, 0, Buffer.from(data as string))
  })
  changing('copyFile', 2, (now, [from, to]) => {
    now(from, to)
    const inode = disk.created(below(to))
    disk.written(inode, 0, real.readFileSync(String(to)))
  })
  patch(fs.promises, 'mkdtemp', (process, _, [prefix]) => {
    const path = `${String(prefix)}${String(process.world.upTo(999_999)).padStart(6, '0')}`
    return fs.promises.mkdir(path).then(() => path)
  })
}

const below = (path: unknown): string => {
  const found = disk.below(path)
  if (found === null) throw new Error(`${String(path)} is not on the disk of the world`)
  return found
}

/** `paths`: how many of its arguments are. */
function changing(name: string, paths: number, perform: InTurn): void {
  inTurn(name, (now, args, process) => {
    if (args.slice(0, paths).some((path) => disk.below(path) === null)) return now(...args)
    disk.refuse(below(args[0]))
    if (name !== 'writeFile') return perform(now, args, process)
    const data = inWorldTime(String(args[1]), process)
    process.world.note(`content ${JSON.stringify(data)}`)
    return perform(now, [args[0], data], process)
  })
}

/** The engine has the clock of the system. What it says of it is written as that of the world. */
const inWorldTime = (text: string, { world }: SimulatedProcess): string =>
  text.replaceAll(
    /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00/g,
    new Date(world.wallMs).toISOString().replace('T', ' ').replace('Z', '+00'),
  )

function open(_: Call, args: unknown[], process: SimulatedProcess): unknown {
  const [given, flags = 'r'] = args
  const path = disk.below(given)
  const isMade = typeof flags === 'string' && /[wa]/.test(flags)
  if (path !== null && isMade) disk.refuse(path)
  const fd = real.openSync(...(args as Parameters<typeof fs.openSync>))
  if (path === null) return new Handle(process, fd, shown(given), undefined)
  const isDirectory = real.fstatSync(fd).isDirectory()
  const inode = isDirectory ? undefined : disk.opened(path)
  if (inode !== undefined && isMade && String(flags).startsWith('w')) disk.resized(inode, 0)
  return new Handle(process, fd, path, inode)
}

/** What eider uses of a FileHandle. */
class Handle {
  readonly fd: number
  readonly #process: SimulatedProcess
  readonly #path: string
  readonly #inode: Inode | undefined

  constructor(process: SimulatedProcess, fd: number, path: string, inode: Inode | undefined) {
    this.#process = process
    this.fd = fd
    this.#path = path
    this.#inode = inode
    opened.set(fd, { process, path, inode })
  }

  sync(): Promise<void> {
    return this.#ask('sync', () => {
      disk.refuse(this.#path)
      if (this.#inode === undefined) disk.syncedDirectory(this.#path)
      else disk.synced(this.#inode)
    })
  }

  datasync(): Promise<void> {
    return this.sync()
  }

  stat(options?: fs.StatOptions): Promise<fs.Stats | fs.BigIntStats> {
    return this.#ask('stat', () => numbered(real.fstatSync(this.fd, options), this.#inode))
  }

  read(into: Uint8Array, offset: number, length: number, position: number) {
    const read = () => ({ bytesRead: real.readSync(this.fd, into, offset, length, position) })
    return this.#ask('read', read)
  }

  readFile(options?: BufferEncoding): Promise<string | Buffer> {
    return this.#ask('readFile', () => real.readFileSync(this.fd, options))
  }

  truncate(length = 0): Promise<void> {
    return this.#ask('truncate', () => {
      disk.refuse(this.#path)
      real.ftruncateSync(this.fd, length)
      if (this.#inode !== undefined) disk.resized(this.#inode, length)
    })
  }

  writeFile(data: string | Uint8Array): Promise<void> {
    return this.#ask('writeFile', () => {
      disk.refuse(this.#path)
      real.writeFileSync(this.fd, data)
      const inode = this.#inode
      if (inode !== undefined) disk.written(inode, inode.visible.length, Buffer.from(data))
    })
  }

  close(): Promise<void> {
    return this.#ask('close', () => close(this.fd))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #ask<T>(what: string, perform: () => T): Promise<T> {
    return this.#process.world.ask(this.#process, `${what} ${this.#path}`, perform)
  }
}

function close(fd: number): void {
  if (opened.delete(fd)) real.closeSync(fd)
}

/** As the system does when a process ends. */
export function closeFilesOf(isGone: (process: SimulatedProcess) => boolean): void {
  for (const [fd, { process }] of opened) if (isGone(process)) close(fd)
}

/** What does not wait. */
function patchNow(): void {
  patch(fs, 'writeSync', ({ world }, original, args) => {
    const [fd, bytes, , length, position] = args as [number, Buffer, number, number, number]
    const own = opened.get(fd)
    if (own === undefined) return original(...args) // what is printed
    const { path, inode } = own
    disk.refuse(path)
    const written = original(...args) as number
    disk.written(inode!, position, bytes.subarray(0, length))
    world.note(`write ${path} ${position} ${JSON.stringify(bytes.toString('latin1', 0, length))}`)
    return written
  })
  patch(fs, 'openSync', (process, original, args) => {
    const fd = original(...args) as number
    const path = disk.below(args[0])
    if (path !== null) opened.set(fd, { process, path, inode: disk.find(path) })
    return fd
  })
  patch(fs, 'closeSync', (_, original, [fd]) => {
    opened.delete(fd as number)
    return original(fd)
  })
  patch(fs, 'fsync', (process, _, [fd, done]) => {
    const path = opened.get(fd as number)?.path ?? ''
    const sync = () => {
      disk.refuse(path)
      disk.syncedDirectory(path)
    }
    const end = done as (error: Error | null) => void
    process.world.ask(process, `fsync ${path}`, sync).then(() => end(null), end)
  })
  patch(fs, 'statSync', (_, original, args) => {
    const stats = original(...args) as fs.Stats | undefined
    return stats && asSeen(args[0], stats)
  })
  patch(fs, 'fstatSync', (_, original, args) =>
    numbered(original(...args) as fs.Stats, opened.get(args[0] as number)?.inode),
  )
  patch(fs, 'readFileSync', ({ world }, original, args) => {
    const [, pid] = /^\/proc\/(\d+)\/stat$/.exec(String(args[0])) ?? []
    const known = world.processes.find((process) => String(process.pid) === pid)
    return pid === undefined ? original(...args) : statOf(known?.startedMs ?? 0)
  })
  patch(fs, 'watch', () => ({ close() {}, on() {} }))
  patch(fs, 'createReadStream', (process, _, [path]) => Readable.from(whole(process, path)))
}

/** As Linux says when a process began: the field 22. */
const statOf = (startedMs: number) => `1 (node) ${'0 '.repeat(19)}${Math.round(startedMs)} 0`

async function* whole(process: SimulatedProcess, path: unknown): AsyncGenerator<Buffer> {
  const read = () => real.readFileSync(path as string)
  yield await process.world.ask(process, `read ${shown(path)}`, read)
}
