// A fresh directory and the built command line, as a user has them. Failures print all that was seen.

import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { canRunHere, runHere } from './command-here.ts'

const TIMEOUT_MS = 60_000

/** The checkout: the nearest directory upward with a package.json. Compiled tests lie one level below it. */
export const repository = fileURLToPath(new URL('../../..', import.meta.url))
/** EIDER_BINARY: another build, to see that a test fails there. */
const binary = process.env['EIDER_BINARY'] ?? join(repository, 'bin', 'run.js')
const main = join(dirname(binary), '..', 'dist', 'bundle', 'main.cjs')

export interface Outcome {
  readonly command: string
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  /** For what differs between a process and a call in this one (command-here.ts). */
  readonly ownProcess?: true
  /** Another user than that of the tests. */
  readonly uid?: number
  readonly gid?: number
}

export interface StartOptions extends RunOptions {
  readonly ready?: string
}

export interface Workspace extends AsyncDisposable {
  readonly dir: string
  path(...parts: readonly string[]): string
  write(path: string, text: string | Uint8Array): Promise<void>
  /** Runs a command to its end. */
  eider(args: readonly string[], options?: RunOptions): Promise<Outcome>
  /** Like `eider`, and throws with everything that was printed unless it ends with `exitCode` (0). */
  ok(
    args: readonly string[],
    options?: RunOptions & { readonly exitCode?: number },
  ): Promise<Outcome>
  /** Starts a command that goes on, with --json, and waits for its `listening`, or for the event that `ready` names. */
  start(args: readonly string[], options?: StartOptions): Promise<Running>
}

export interface Running extends AsyncDisposable {
  readonly pid: number
  /** Of the `listening` event. */
  readonly url: string
  readonly adminUrl: string | undefined
  readonly stdout: () => string
  readonly stderr: () => string
  /** Sends the signal and waits for the end; gives the exit code as a shell shows it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export async function workspace(files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-test-'))
  const running: Running[] = []
  const space: Workspace = {
    dir,
    path: (...parts) => join(dir, ...parts),
    async write(path, text) {
      await mkdir(dirname(join(dir, path)), { recursive: true })
      await writeFile(join(dir, path), text)
    },
    eider: (args, options = {}) => runToEnd(args, dir, options),
    async ok(args, { exitCode = 0, ...options } = {}) {
      const outcome = await space.eider(args, options)
      if (outcome.exitCode !== exitCode)
        throw new Error(`expected exit code ${exitCode}\n${await describe(outcome, dir)}`)
      return outcome
    },
    async start(args, options = {}) {
      const server = await startServer(args, { cwd: dir, ...options })
      running.push(server)
      return server
    },
    async [Symbol.asyncDispose]() {
      for (const server of running) await server[Symbol.asyncDispose]()
      await rm(dir, { recursive: true, force: true })
    },
  }
  for (const [path, text] of Object.entries(files)) await space.write(path, text)
  return space
}

async function runToEnd(args: readonly string[], dir: string, given: RunOptions): Promise<Outcome> {
  const command = `eider ${args.join(' ')}`
  const options = { cwd: dir, ...given }
  // A command in this process cannot be ended: a test that gives one less time wants just that.
  const mayBeEnded = (given.timeoutMs ?? TIMEOUT_MS) < TIMEOUT_MS
  const isPlain = !mayBeEnded && ['ownProcess', 'uid', 'gid'].every((name) => !(name in given))
  const here = { dir, main, args, cwd: options.cwd, env: eiderProcess(args, options.env).env }
  if (isPlain && canRunHere(here)) return { command, ...(await runHere(here)) }
  const child = launch(args, options)
  const output = collect(child)
  child.stdin?.end()
  const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? TIMEOUT_MS)
  const startedMs = Date.now()
  const exitCode = await exitOf(child)
  clearTimeout(timer)
  const { signalCode: signal } = child
  const afterSeconds = (Date.now() - startedMs) / 1000
  const ended = signal === null ? '' : `\nended by ${signal} after ${afterSeconds} s`
  return {
    command,
    exitCode,
    stdout: output.stdout(),
    stderr: output.stderr() + ended,
  }
}

async function startServer(
  args: readonly string[],
  { ready = 'listening', ...options }: StartOptions,
): Promise<Running> {
  const child = launch([...args, '--json'], options)
  const output = collect(child)
  const exited = exitOf(child)
  const listening = await new Promise<{ url: string; admin_url?: string }>((resolve, reject) => {
    const failed = (why: string) =>
      reject(new Error(`${why}: eider ${args.join(' ')}\n${output.stdout()}${output.stderr()}`))
    const timer = setTimeout(() => failed(`no event ${ready} in time`), TIMEOUT_MS)
    child.stdout?.on('data', () => {
      const line = output
        .stdout()
        .split('\n')
        .find((text) => text.includes(`"event":"${ready}"`))
      if (line === undefined) return
      clearTimeout(timer)
      resolve(JSON.parse(line) as { url: string })
    })
    void exited.then((code) => {
      clearTimeout(timer)
      failed(`ended with ${code}`)
    })
  })
  return {
    pid: child.pid!,
    url: listening.url,
    adminUrl: listening.admin_url,
    stdout: output.stdout,
    stderr: output.stderr,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      const { signals } = constants
      return exited.then((code) => code ?? 128 + signals[child.signalCode!])
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      await exited
    },
  }
}

/** Every file with a hash of what it holds. */
export async function contentsOf({ dir }: Workspace): Promise<readonly string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((e) => `${e.parentPath}/${e.name}`)
  const hashes = paths.toSorted().map(async (path) => {
    const hash = createHash('sha256').update(await readFile(path))
    return `${path} ${hash.digest('hex')}`
  })
  return Promise.all(hashes)
}

/** How the built command line is started: without settings of the machine, with those of the test. */
export function eiderProcess(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:(?:COLLECT|ODATA|EIDER)_|(?:CI|FORCE_COLOR)$)/.test(name),
  )
  return {
    command: process.execPath,
    args: [binary, ...args],
    env: { ...Object.fromEntries(inherited), NO_COLOR: '1', ...env },
  }
}

function launch(args: readonly string[], { cwd, uid, gid, env: more }: RunOptions): ChildProcess {
  const { command, args: all, env } = eiderProcess(args, more)
  return spawn(command, all, { cwd, uid, gid, env, stdio: ['pipe', 'pipe', 'pipe'] })
}

function collect(child: ChildProcess) {
  const text = { stdout: '', stderr: '' }
  child.stdout?.on('data', (chunk: Buffer) => (text.stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()))
  return { stdout: () => text.stdout, stderr: () => text.stderr }
}

const exitOf = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => child.once('close', resolve))

async function describe(
  { command, exitCode, stdout, stderr }: Outcome,
  dir: string,
): Promise<string> {
  const files = await readdir(dir, { recursive: true })
  return [
    command,
    `exit code ${exitCode}`,
    '--- stdout',
    stdout,
    '--- stderr',
    stderr,
    '--- files',
    ...files,
  ].join('\n')
}
