// A file that says which process owns something. It is made with its whole content by link(2), so it is never seen half
// written and only one process can make it. A holder that is dead is taken over; to do so, a process first takes a lock
// on the right to take over from this holder, so that two cannot both believe that they have won.

import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { EnvironmentError } from '../core/failures.ts'
import { errorCode } from './errors.ts'

interface Holder {
  readonly pid: number
  readonly host: string
  readonly startedAt: string
  /** Tells a process from a later one with its pid, where the system says so; else null. */
  readonly process: string | null
}

/** A held lock; disposing releases it. Throws EnvironmentError `buffer-locked` while a living process holds it. */
export async function takeLock(path: string): Promise<AsyncDisposable> {
  const holder: Holder = {
    pid: process.pid,
    host: hostname(),
    startedAt: new Date().toISOString(),
    process: processIdentity(process.pid),
  }
  const content = JSON.stringify(holder) + '\n'
  const draft = `${path}.${randomUUID()}`
  await writeFile(draft, content, { flag: 'wx' })
  try {
    let held = false
    while (!held) held = (await tryLink(draft, path)) || (await tryTakeOver(draft, path))
  } finally {
    await unlink(draft).catch(() => {})
  }
  return {
    async [Symbol.asyncDispose]() {
      if ((await readIfThere(path)) === content) await unlink(path)
    },
  }
}

/** true: the draft is the lock now. false: the lock has changed meanwhile, try again. */
async function tryTakeOver(draft: string, path: string): Promise<boolean> {
  const found = await readIfThere(path)
  if (found === null) return false
  const holder = parseHolder(found)
  if (holder !== null && isAlive(holder)) throw locked(path, holder)
  await using _right = await takeLock(`${path}.${crc32(found)}`)
  if ((await readIfThere(path)) !== found) return false
  await rename(draft, path)
  return true
}

function locked(path: string, { pid, host, startedAt }: Holder): EnvironmentError {
  const here = host === hostname()
  const where = here ? '' : ` on ${host}`
  return new EnvironmentError(
    'buffer-locked',
    `the event buffer is in use by process ${pid}${where} since ${startedAt}`,
    {
      hint: here
        ? 'stop that process, or let it do the work'
        : `if ${host} no longer runs, delete ${path}`,
    },
  )
}

// Another machine cannot be asked, so its process counts as alive.
function isAlive(holder: Holder): boolean {
  if (holder.host !== hostname()) return true
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
  return holder.process === null || holder.process === processIdentity(holder.pid)
}

/** Boot of the machine and start of the process in it, as Linux counts them; null elsewhere. */
function processIdentity(pid: number): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in parentheses, which may hold anything; field 22 is the start time.
    const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return `${boot}/${startTime}`
  } catch {
    return null
  }
}

// null for what no lock contains: a power cut may leave an empty file, and its holder is gone.
function parseHolder(content: string): Holder | null {
  try {
    const holder = JSON.parse(content) as Partial<Holder> | null
    if (typeof holder?.pid !== 'number' || typeof holder.host !== 'string') return null
    const { pid, host, startedAt = 'an unknown time', process = null } = holder
    return { pid, host, startedAt, process }
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

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}
