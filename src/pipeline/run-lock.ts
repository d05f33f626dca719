// One run at a time: `.eider/run.lock`.
//
// The file is one JSON object {pid, process_started, host, started_at}. It appears whole, by link(2) from a file of a
// name of its own, and is held while it exists and its process lives. `process_started` is the kernel's start time of
// that process, so that a reused pid is not taken for the holder; it is null where the system does not tell it.
// A file that is no such object is held by nobody (a power cut may leave it empty).
//
// The lock orders runs and names the holder to people. Should two runs ever take over the same dead holder at once,
// the engine's own lock on the warehouse still lets only one of them in.

import { randomUUID } from 'node:crypto'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EnvironmentError } from '../core/failures.ts'

const POLL_MS = 100

interface Holder {
  readonly pid: number
  readonly process_started: string | null
  readonly host: string
  readonly started_at: string
}

export class RunLock implements AsyncDisposable {
  readonly #path: string
  readonly #text: string

  private constructor(path: string, text: string) {
    this.#path = path
    this.#text = text
  }

  /** Waits up to `waitMs` for a living holder; then EnvironmentError `run-locked`. A dead holder is taken over at once. */
  static async take(path: string, waitMs: number, signal: AbortSignal): Promise<RunLock> {
    await mkdir(dirname(path), { recursive: true })
    const text = JSON.stringify(await describeThisProcess()) + '\n'
    const deadline = Date.now() + waitMs
    for (;;) {
      signal.throwIfAborted()
      if (await create(path, text)) return new RunLock(path, text)
      const held = await readFile(path, 'utf8').catch(() => null)
      if (held === null) continue // released between the two calls
      const holder = parseHolder(held)
      if (holder === null || !(await isAlive(holder))) {
        await removeDead(path, held)
        continue
      }
      if (Date.now() >= deadline) throw lockedBy(holder, path)
      await sleep(POLL_MS, undefined, { signal })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const text = await readFile(this.#path, 'utf8').catch(() => null)
    if (text === this.#text) await rm(this.#path, { force: true })
  }
}

async function create(path: string, text: string): Promise<boolean> {
  const own = `${path}.${randomUUID()}`
  try {
    await writeFile(own, text)
    await link(own, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(own, { force: true })
  }
}

/** Moves the file away first: of two processes that do this, one finds nothing, or the other's new lock and puts it back. */
async function removeDead(path: string, dead: string): Promise<void> {
  const away = `${path}.${randomUUID()}`
  try {
    await rename(path, away)
  } catch {
    return
  }
  if ((await readFile(away, 'utf8')) !== dead) await link(away, path).catch(() => {})
  await rm(away, { force: true })
}

async function describeThisProcess(): Promise<Holder> {
  return {
    pid: process.pid,
    process_started: await processStart(process.pid),
    host: hostname(),
    started_at: new Date().toISOString(),
  }
}

/** A holder on another machine cannot be asked and counts as alive. */
async function isAlive(holder: Holder): Promise<boolean> {
  if (holder.host !== hostname()) return true
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  const started = await processStart(holder.pid)
  return holder.process_started === null || started === null || started === holder.process_started
}

/** Field 22 of /proc/<pid>/stat; the second field may hold spaces and ends with the last parenthesis. */
async function processStart(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
}

function parseHolder(text: string): Holder | null {
  try {
    const { pid, process_started, host, started_at } = JSON.parse(text) as Partial<Holder>
    if (typeof pid !== 'number' || typeof host !== 'string' || typeof started_at !== 'string')
      return null
    return { pid, process_started: process_started ?? null, host, started_at }
  } catch {
    return null
  }
}

function lockedBy({ pid, host, started_at }: Holder, path: string): EnvironmentError {
  const elsewhere = host !== hostname()
  return new EnvironmentError(
    'run-locked',
    `another run is at work: process ${pid} on ${host}, since ${started_at}`,
    {
      hint: elsewhere
        ? `wait with --wait SECONDS; if that machine is gone, delete ${path}`
        : 'wait longer with --wait SECONDS',
    },
  )
}
