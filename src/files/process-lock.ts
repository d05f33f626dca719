// A file that says which process owns something: one JSON object {pid, host, startedAt, process, pidNamespace, role,
// sign, inode}. It is made with its whole content by link(2), so it is never seen half written and only one process can make
// it. A holder that is dead is taken over; to do so, a process first takes a lock on the right to take over from this
// holder, so that two cannot both believe that they have won. A file without such an object is held by nobody: a power
// cut may leave an empty one.

import { randomUUID, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { link, open, rename, unlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, resolve, basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { readTextIfThere } from './read-file.ts'
import { makeDirectory } from './durable-files.ts'
import { EnvironmentError } from '../core/failures.ts'
import { Resources } from '../core/resources.ts'
import { createServer, connect } from 'node:net'

export interface LockHolder {
  readonly pid: number
  readonly host: string
  readonly startedAt: string
  /** Distinguishes a process from a later one with the same pid, where the system can; else null. */
  readonly process: string | null
  /** Where the pid means something: on Linux each container has its own namespace; null elsewhere. */
  readonly pidNamespace: string | null
  /** What the process does with the lock, for those who decide whether to wait; null when it does not say. */
  readonly role: string | null
  /** Name of its life sign next to the lock file; null when it has none. */
  readonly sign: string | null
  /** The number of the lock file, by which a copy of it is told. It is absent where an older version made the file. */
  readonly inode?: number | undefined
}

/** Thrown while a living process holds the lock. The message is for people, who read it where it is not rephrased. */
export class LockHeldError extends Error {
  override name = 'LockHeldError'
  readonly holder: LockHolder
  readonly path: string
  constructor(holder: LockHolder, path: string) {
    super(`${path} is held by ${describeHolder(holder)}`)
    this.holder = holder
    this.path = path
  }
}

/** `process 7 on elsewhere since 2026-01-01T…`; the place only where it is not here. */
export function describeHolder(holder: LockHolder): string {
  const where = isHere(holder)
    ? ''
    : holder.host === hostname()
      ? ' in another container'
      : ` on ${holder.host}`
  return `process ${holder.pid}${where} since ${holder.startedAt}`
}

/** Whether this process can ask the system for the holder by its pid. */
export const isHere = ({ host, pidNamespace }: LockHolder): boolean =>
  host === hostname() && (pidNamespace === null || pidNamespace === ownPidNamespace())

/** What must have ended for a holder that is not here to be dead. */
export const homeOf = ({ host }: LockHolder): string =>
  host === hostname() ? 'that container' : host

export interface ProcessLock extends AsyncDisposable {
  /**
   * false once its file is gone or another process's: somebody has moved or deleted it, or taken it over. In this thread:
   * it costs one look at the file's number and time.
   */
  isHeld(): boolean
}

/** Acquires the lock, creating its directory when missing; disposing releases it. Throws LockHeldError. */
export async function takeProcessLock(
  path: string,
  { role = null }: { readonly role?: string | null } = {},
): Promise<ProcessLock> {
  await makeDirectory(resolve(dirname(path)))
  await using resources = new Resources()
  // Before anybody can read of it.
  const sign = await openLifeSign(path)
  if (sign !== null) resources.use(sign)
  const holder: Omit<LockHolder, 'inode'> = {
    pid: process.pid,
    host: hostname(),
    startedAt: new Date().toISOString(),
    process: processIdentity(process.pid),
    pidNamespace: ownPidNamespace(),
    role,
    sign: sign?.name ?? null,
  }
  const draft = `${path}.${randomUUID()}`
  let made: Draft
  try {
    // On a full disk an empty file would stay.
    made = await writeDraft(draft, holder)
    let held = false
    while (!held) held = (await tryLink(draft, path)) || (await tryTakeOver(draft, path))
  } finally {
    await unlink(draft).catch(() => {})
  }
  // A file that is made later may get the number of one that was deleted, but not its time.
  const isHeld = () => {
    const now = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (now === undefined) return false
    if (now.ino === made.ino && now.mtimeNs === made.mtimeNs) return true
    try {
      return readFileSync(path, 'utf8') === made.content
    } catch (error) {
      // It has gone between the two looks.
      if (errorCode(error) === 'ENOENT') return false
      throw error
    }
  }
  resources.defer(async () => {
    if (isHeld()) await unlink(path)
  })
  const owned = resources.move()
  return { isHeld, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() }
}

interface Draft {
  readonly content: string
  readonly ino: bigint
  readonly mtimeNs: bigint
}

/** Returns what it has written, and by what the file is told from others: a link to it has the same. */
async function writeDraft(draft: string, holder: Omit<LockHolder, 'inode'>): Promise<Draft> {
  await using file = await open(draft, 'wx')
  const { ino: inode } = await file.stat()
  const content = JSON.stringify({ ...holder, inode }) + '\n'
  await file.writeFile(content)
  const { ino, mtimeNs } = await file.stat({ bigint: true })
  return { content, ino, mtimeNs }
}

/** Whether the file was copied from where its holder works, as with the whole directory, instead of made there. */
export async function isCopiedLock(path: string): Promise<boolean> {
  try {
    await using file = await open(path, 'r')
    const { ino } = await file.stat()
    const inode = parseHolder(await file.readFile('utf8'))?.inode
    return inode !== undefined && inode !== ino
  } catch {
    return false
  }
}

/** A copy of a project has the lock files of those who work in the original; nobody works here. null: it is no copy. */
export async function copiedLock({
  holder,
  path,
}: LockHeldError): Promise<EnvironmentError | null> {
  if (!(await isCopiedLock(path))) return null
  const message = `this is a copy of a project that is in use elsewhere, by ${describeHolder(holder)}`
  return new EnvironmentError('lock-copied', message, {
    hint: `to work on the copy, delete ${path}`,
  })
}

/** Who holds the lock, or died without releasing it; null when nobody does. */
export async function readLockHolder(
  path: string,
): Promise<{ readonly holder: LockHolder; readonly alive: boolean } | null> {
  const content = await readTextIfThere(path)
  const holder = content === null ? null : parseHolder(content)
  return holder === null ? null : { holder, alive: await isAlive(holder, path) }
}

/** The same for people. `copiedLock`: the path, where the file came here with a copy of the project. */
export async function describeLock(
  path: string,
): Promise<{ name: string; alive: boolean; copiedLock?: string } | null> {
  const found = await readLockHolder(path)
  if (found === null) return null
  const holder = { name: describeHolder(found.holder), alive: found.alive }
  return (await isCopiedLock(path)) ? { ...holder, copiedLock: path } : holder
}

/** true: the draft is the lock now. false: the lock has changed meanwhile, try again. */
async function tryTakeOver(draft: string, path: string): Promise<boolean> {
  const found = await readTextIfThere(path)
  if (found === null) return false
  const holder = parseHolder(found)
  if (holder !== null && (await isAlive(holder, path))) throw new LockHeldError(holder, path)
  await using _right = await takeRight(`${path}.${crc32(found)}`)
  if ((await readTextIfThere(path)) !== found) return false
  await rename(draft, path)
  if (holder?.sign != null) await unlink(lifeSignPath(path, holder.sign)).catch(() => {})
  return true
}

/** Two reads and a rename are all that is done with the right; a process that has it for longer has been stopped. */
const TAKE_OVER_MS = 1_000
const TAKE_OVER_POLL_MS = 10

/** Who has it only decides who will hold the lock, so it is waited for also by those who don't wait for a holder. */
async function takeRight(path: string): Promise<AsyncDisposable> {
  const deadline = performance.now() + TAKE_OVER_MS
  for (;;) {
    try {
      return await takeProcessLock(path)
    } catch (error) {
      if (!(error instanceof LockHeldError) || performance.now() >= deadline) throw error
    }
    await sleep(TAKE_OVER_POLL_MS)
  }
}

// Another machine cannot be asked, so a process there counts as alive; so does one of another container without a sign.
async function isAlive(holder: LockHolder, path: string): Promise<boolean> {
  if (!isHere(holder)) {
    if (holder.sign === null || !isOfThisBoot(holder)) return true
    return !(await isSilent(lifeSignPath(path, holder.sign)))
  }
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
  if (hasEnded(holder.pid)) return false
  return holder.process === null || holder.process === processIdentity(holder.pid)
}

/** Whether one kernel runs the holder and this process: it has started once since the holder did. */
function isOfThisBoot(holder: LockHolder): boolean {
  const boot = (identity: string | null) => identity?.split('/')[0]
  return holder.process !== null && boot(holder.process) === boot(processIdentity(process.pid))
}

/** Boot of the machine and start of the process in it, as Linux counts them; null elsewhere. */
export function processIdentity(pid: number): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot}/${statOf(pid)[STARTED]}`
  } catch {
    return null
  }
}

const STATE = 0
const STARTED = 19

/** Fields of /proc/<pid>/stat from the third on: the second is the program's name in parentheses, which may hold anything. */
function statOf(pid: number): readonly string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

/**
 * Whether nothing of the process is left but its status, which its parent has not asked for, and never does where that is no
 * shell or init. The first thread may end before others, which still have files open.
 */
function hasEnded(pid: number): boolean {
  try {
    return statOf(pid)[STATE] === 'Z' && readdirSync(`/proc/${pid}/task`).length === 1
  } catch {
    return false
  }
}

function ownPidNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return null
  }
}

function parseHolder(content: string): LockHolder | null {
  try {
    const holder = JSON.parse(content) as Partial<LockHolder> | null
    if (typeof holder?.pid !== 'number' || typeof holder.host !== 'string') return null
    const { startedAt = 'an unknown time', process = null } = holder
    const { pidNamespace = null, role = null, sign = null, inode } = holder
    const { pid, host } = holder
    return { pid, host, startedAt, process, pidNamespace, role, sign, inode }
  } catch {
    return null
  }
}

async function tryLink(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

const errorCode = (error: unknown) => (error as NodeJS.ErrnoException).code

// A Unix socket in a directory that a process listens on for as long as it lives. The kernel ends the listening with
// the process, however that dies, so a process that connects learns whether it is there: also from another container on
// the same kernel that shares the directory, where a pid means nothing. From another machine every socket looks dead.

/** The address of a Unix socket has 108 bytes, and a longer one is cut silently: then it is another file's. */
const MAX_PATH_BYTES = 100

/** Listens next to `path`, under the name that it returns. null where that cannot be done: not on Linux, or on such a disk. */
async function openLifeSign(path: string) {
  const sign = `${path}.${randomBytes(4).toString('hex')}.alive`
  if (process.platform !== 'linux' || Buffer.byteLength(sign) > MAX_PATH_BYTES) return null
  const server = createServer((socket) => socket.destroy())
  const isListening = await new Promise<boolean>((resolve) => {
    // Also for those that come later, such as too many open files: then no connection is accepted, and that is all.
    server.on('error', () => resolve(false))
    server.listen(sign, () => resolve(true))
  })
  if (!isListening) return null
  server.unref() // the process does not live on for it
  return {
    name: basename(sign),
    // Removes the socket file too.
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

const lifeSignPath = (lockPath: string, name: string): string =>
  join(dirname(lockPath), basename(name))

/**
 * Whether nobody listens any more. false also when that cannot be determined: the file is gone, or may not be used, or
 * its path is too long here, where the directory may have a longer one than in the container of the holder.
 */
async function isSilent(path: string): Promise<boolean> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return false
  return await new Promise((resolve) => {
    const socket = connect(path)
    const end = (silent: boolean) => {
      socket.destroy()
      resolve(silent)
    }
    socket.once('connect', () => end(false))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED'))
  })
}
