// The built command line in the process of a test: to start a process takes several times as long as most commands. It
// finds what it would have there for itself: a working directory, an environment, streams, an exit code.

import { Console } from 'node:console'
import { readdirSync, readlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Readable, Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'

/** Set by the runner of tests for files that are not about processes (test/which-run.ts). */
export const COMMANDS_VARIABLE = 'EIDER_TEST_COMMANDS'

/** Commands that end by themselves, each of which is one bundled file. */
const commands = new Set(
  'adopt check client collect completion contract docs doctor drop erase explain export flush fmt history import init ls maintain move mv odata plan publish pull query restore run show status test token'.split(
    ' ',
  ),
)
/** Those of them that do not end by themselves. */
const servers: Readonly<Record<string, readonly string[]>> = {
  collect: ['daemon'],
  odata: ['serve'],
}
const CLOSE_TIMEOUT_MS = 2_000

const require = createRequire(import.meta.url)
let isBusy = false

interface CommandHere {
  /** Of the project. */
  readonly dir: string
  readonly main: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Whether it would do the same as in a process. It would not while this process has a file of the project open, such as
 * the database: locks of files are between processes. Two commands at once would share what is given to one.
 */
export function canRunHere({ dir, args: [command = '', ...words] }: CommandHere): boolean {
  if (process.env[COMMANDS_VARIABLE] !== 'here' || isBusy || !commands.has(command)) return false
  if (servers[command]?.includes(words[0]!)) return false
  const isAsked = words.some((word) => ['--watch', '--help', '-h'].includes(word))
  return !isAsked && openFiles(dir)?.length === 0
}

export async function runHere({ dir, main, args, cwd, env }: CommandHere) {
  isBusy = true
  const [stdout, stderr] = [new Kept(), new Kept()]
  const givenBack = takeProcess({ cwd, env, stdout, stderr })
  try {
    const program = require(main) as { main(argv: readonly string[]): Promise<void> }
    await program.main(args).catch((thrown: unknown) => {
      if (!(thrown instanceof Exit)) throw thrown
    })
    const exitCode = Number(process.exitCode ?? 0)
    await allClosed(dir)
    return { exitCode, stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    givenBack()
    isBusy = false
  }
}

class Exit extends Error {}

class Kept extends Writable {
  readonly #chunks: Buffer[] = []
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk)
    done()
  }
  text(): string {
    return Buffer.concat(this.#chunks).toString()
  }
}

interface Given {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: Writable
  readonly stderr: Writable
}

/** The result gives all back. */
function takeProcess({ cwd, env, stdout, stderr }: Given): () => void {
  const before = { cwd: process.cwd(), env: { ...process.env }, exitCode: process.exitCode }
  const os = require('node:os') as Record<string, unknown>
  const stdin = Readable.from([])
  const exit = (code?: number) => {
    process.exitCode = code ?? process.exitCode
    throw new Exit()
  }
  const restored = [
    replace(process, { stdout, stderr, stdin, exit }),
    replace(globalThis, { console: new Console(stdout, stderr) }),
    // What a run lowers for itself would stay so for all tests that follow.
    replace(os, { setPriority: () => {} }),
  ]
  setEnvironment(env)
  process.exitCode = undefined
  process.chdir(cwd)
  return () => {
    process.chdir(before.cwd)
    setEnvironment(before.env)
    process.exitCode = before.exitCode
    for (const restore of restored) restore()
  }
}

function replace(owner: object, values: Readonly<Record<string, unknown>>): () => void {
  const before = Object.getOwnPropertyDescriptors(owner)
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(owner, name, { value, configurable: true, writable: true })
  return () => {
    for (const name of Object.keys(values))
      Object.defineProperty(owner, name, (before as PropertyDescriptorMap)[name]!)
  }
}

/** In place, since the engine reads it too. */
function setEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
  for (const [name, value] of Object.entries(env))
    if (process.env[name] !== value) process.env[name] = value
}

/** The end of a process would close what a command forgets. */
async function allClosed(dir: string): Promise<void> {
  const givenUpAt = Date.now() + CLOSE_TIMEOUT_MS
  for (;;) {
    const open = openFiles(dir) ?? []
    if (open.length === 0) return
    if (Date.now() > givenUpAt) throw new Error(`the command has left open: ${open.join(', ')}`)
    await wait(5)
  }
}

/** Of this process, below a directory; null where the system does not tell. */
function openFiles(dir: string): readonly string[] | null {
  try {
    return readdirSync('/proc/self/fd')
      .map((fd) => pathOf(fd))
      .filter((path) => path.startsWith(`${dir}/`))
  } catch {
    return null
  }
}

function pathOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return '' // that of the listing
  }
}
