// The checks of `eider doctor`: each examines one thing and says what to do next. Nothing is changed.

import { hostAndPort } from '../core/host-text.ts'
import { readdir, stat, statfs } from 'node:fs/promises'
import { readTextLater } from '../files/read-file.ts'
import { createConnection } from 'node:net'
import { dirname, join, relative } from 'node:path'
import { damagedEvents } from '../buffer/damaged.ts'
import { waitingBytes } from '../buffer/waiting.ts'
import { compile } from '../compiler/compile.ts'
import { DiagnosticsError } from '../core/diagnostics.ts'
import { byHandProblem } from '../core/report/by-hand.ts'
import { damagedText, WHAT_TO_DO_WITH_DAMAGED } from '../core/report/damaged-events.ts'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import { entitySetName } from '../core/names.ts'
import { readByText } from '../core/report/planned-changes.ts'
import { limits } from '../core/limits.ts'
import { describeLock } from '../files/process-lock.ts'
import { hasNoInodes, problemOfSystem } from '../files/system-errors.ts'
import { ExtensionError } from '../duckdb/extension-files.ts'
import { HOW_TO_FINISH, unfinishedErasures, unfinishedText } from '../pipeline/erase/record.ts'
import { readDotEnv } from '../project/dot-env.ts'
import { recipientsInForce } from '../project/notify.ts'
import type { Project } from '../project/project.ts'
import { lakeSecrets } from '../project/settings.ts'
import { openStore } from '../store/open.ts'
import { tokensAmong } from '../wiring/clients.ts'
import { isHeld, openToRead } from '../wiring/reading.ts'
import { traitsOf } from '../store/traits-of.ts'
import type { LeaseHolder } from '../store/run-lease.ts'
import { keptCost } from './kept-states.ts'
import { writeProblem } from './writable-files.ts'
import type { Store } from '../store/store.ts'

export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly message: string
  readonly next?: string
}

const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message })
const warn = (check: string, message: string, next: string): Finding => {
  return { check, status: 'warn', message, next }
}
const fail = (check: string, message: string, next: string): Finding => {
  return { check, status: 'fail', message, next }
}

export async function* checkUp(project: Project): AsyncGenerator<Finding> {
  yield checkNode()
  yield await checkProject(project)
  yield await checkFiles(project)
  const store = openStore(project.paths)
  const warehouse = await unlessRefused('warehouse', () => checkWarehouse(project, store))
  yield warehouse
  yield await unlessRefused('run lock', async () =>
    lockFinding('run lock', await store.lease.holder()),
  )
  yield await unlessRefused('buffer', () => checkBuffer(project))
  yield await unlessRefused('events', () => checkWaiting(project))
  yield await unlessRefused('snapshot', () => checkSnapshot(project, store))
  if (warehouse.status !== 'fail') {
    yield await unlessRefused('tables', () => checkTables(project, store))
    yield await unlessRefused('states', () => checkStates(store))
  }
  yield* await checkErasures(project)
  yield await checkSecrets(project)
  if (traitsOf(project.paths).hasKeys) yield await checkLakeKeys(project)
  if (project.notify !== null) yield checkNotify(project)
  const { settings } = project
  yield await checkPort('collect', settings['collect.host'], settings['collect.port'])
  yield await checkPort('odata', settings['odata.host'], settings['odata.port'])
  yield await checkDisk(project)
}

/** What cannot be read is a finding, and the other checks go on. */
async function unlessRefused(name: string, check: () => Promise<Finding>): Promise<Finding> {
  try {
    return await check()
  } catch (error) {
    if (error instanceof EnvironmentError || error instanceof UsageError)
      return fail(name, error.message, error.hint ?? 'see docs/errors.md')
    if (!(error instanceof Error && 'syscall' in error)) throw error
    return fail(name, problemOfSystem(error), 'let the user who runs eider read it')
  }
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const message = `Node ${process.versions.node}`
  const isKnown = major > 20 || (major === 20 && minor >= 19)
  return isKnown ? ok('node', message) : fail('node', message, 'install Node 20.19 or newer')
}

async function checkProject({ files, paths, name }: Project): Promise<Finding> {
  try {
    const { models, warnings } = await compile(files, { dir: paths.dir })
    const message = `${name}: ${models.size} models compile`
    if (warnings.length === 0) return ok('project', message)
    return warn('project', `${message}, ${warnings.length} warnings`, 'eider run shows them')
  } catch (error) {
    if (error instanceof ExtensionError) return fail('project', error.message, error.hint ?? '')
    if (!(error instanceof DiagnosticsError)) throw error
    const { length } = error.diagnostics
    const count = length === 1 ? '1 mistake' : `${length} mistakes, the first`
    return fail(
      'project',
      `${count}: ${error.diagnostics[0]!.message}`,
      'eider plan shows them with their places',
    )
  }
}

/** What commands write, so that the first to find out is not the daemon at night. */
async function checkFiles({ paths }: Project): Promise<Finding> {
  const found = await writeProblem(paths)
  if (found === null) return ok('files', 'runs and services can write their files')
  return fail('files', found.problem, found.hint)
}

async function checkWarehouse(
  { settings }: Project,
  { openPuller, snapshots, warehouse }: Store,
): Promise<Finding> {
  try {
    if (!(await warehouse.exists()))
      return warn('warehouse', `${warehouse.name} does not exist yet`, 'eider run')
    await using _opened = await warehouse.openToRead({
      memoryLimit: settings.memory_limit,
      isHasty: true,
    })
    // The state of a lake opens without its store, which holds what is published.
    if (openPuller !== null) await snapshots.current()
    return ok('warehouse', `${warehouse.name} opens`)
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error
    const isBusy = error.code === 'warehouse-locked'
    return (isBusy ? warn : fail)(
      'warehouse',
      error.message,
      error.hint ?? 'see docs/operations.md',
    )
  }
}

/** What somebody has changed with another program is neither published nor known to readers. */
async function checkTables(project: Project, store: Store): Promise<Finding> {
  if (!(await store.warehouse.exists())) return ok('tables', 'there is none to compare')
  const opened = await openToRead(project).catch((error: unknown) => {
    if (isHeld(error)) return 'a run has them'
    if (error instanceof DiagnosticsError || error instanceof ExtensionError)
      return 'the project has mistakes'
    throw error
  })
  if (typeof opened === 'string') return ok('tables', `not compared: ${opened}`)
  await using reading = opened
  const { readSteps } = await import('../pipeline/plan/show-changes.ts')
  const { compareByHand, leftAlone } = await import('../pipeline/by-hand.ts')
  const { context, steps } = await readSteps({ ...reading, paths: project.paths }, reading)
  const tables = await leftAlone(context, steps)
  const found = await compareByHand(context, tables)
  const [first] = found
  if (first === undefined) {
    const compared = tables.filter(({ relation }) => relation !== null).length
    return ok('tables', `${compared} are as they are published, by all values`)
  }
  const names = found.map(({ model }) => model)
  const texts = found.map((change) => `${change.model}: ${byHandProblem(change)}`)
  return warn('tables', texts.join('; '), `eider publish ${names.join(' ')}`)
}

async function checkBuffer({ paths }: Project): Promise<Finding> {
  const damaged = await damagedEvents(paths.buffer)
  if (damaged.length > 0) {
    const texts = damaged.map((kept) => `${kept.target}: ${damagedText(kept)}`)
    return fail('buffer', texts.join('; '), WHAT_TO_DO_WITH_DAMAGED)
  }
  return lockFinding('buffer', await describeLock(paths.collectLock))
}

export function lockFinding(check: string, holder: LeaseHolder | null): Finding {
  if (holder === null) return ok(check, 'free')
  const { copiedLock } = holder
  if (holder.alive && copiedLock !== undefined)
    return warn(
      check,
      `this is a copy of a project that is in use elsewhere, by ${holder.name}`,
      `to work on the copy, delete ${copiedLock}`,
    )
  const heldMs = holder.since === undefined ? 0 : Date.now() - holder.since.getTime()
  if (holder.alive && heldMs > limits.longLeaseMs)
    return warn(
      check,
      `held by ${holder.name} for ${Math.floor(heldMs / 3_600_000)} hours`,
      'check whether it is still working: eider maintain deletes what a run has not committed after lake.keep_days',
    )
  if (holder.alive) return ok(check, `held by ${holder.name}`)
  const message = `left by ${holder.name}, which is gone`
  return warn(check, message, 'nothing to do: the next process takes it over')
}

/** Nothing where all have ended. */
async function checkErasures({ paths }: Project): Promise<readonly Finding[]> {
  try {
    const found = await unfinishedErasures(paths)
    return found.map((erasure) => warn('erase', unfinishedText(erasure), HOW_TO_FINISH))
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    return [fail('erase', problemOfSystem(error), 'let the user who runs eider read it')]
  }
}

async function checkWaiting({ paths }: Project): Promise<Finding> {
  const waiting = await waitingBytes(paths.buffer)
  if (waiting.size === 0) return ok('events', 'none are waiting in the buffer')
  const bytes = [...waiting.values()].reduce((sum, size) => sum + size, 0)
  const message = `${bytes} bytes are waiting in the buffer for ${[...waiting.keys()].join(', ')}`
  return ok('events', `${message}; eider run flushes those that have a model`)
}

async function checkSnapshot(
  { paths, readers }: Project,
  { openPuller, published, snapshots }: Store,
): Promise<Finding> {
  const { broughtBy } = published
  const current = await published.current()
  const snapshot = await current?.read().catch(() => null)
  if (snapshot == null)
    return openPuller === null
      ? warn('snapshot', 'nothing is published yet', broughtBy)
      : ok('snapshot', `none on this machine; where a service runs: ${broughtBy}`)
  const engine = { threads: 1, memoryLimit: null, tempDir: join(paths.state, 'tmp') }
  const damaged = await published.findDamage(snapshot, engine, new AbortController().signal)
  if (damaged.length > 0) {
    const problems = damaged.map(({ problem }) => problem).join(', ')
    const isDamaged = (file: string) => damaged.some((one) => one.file === file)
    const sets = snapshot.relations.flatMap(({ model, file }) =>
      isDamaged(file) ? entitySetName(model) : [],
    )
    const tokens = [...new Set(sets.flatMap(tokensAmong(readers.tokens)))]
    const readBy = tokens.length === 0 ? '' : `, ${readByText({ models: [], sets: [], tokens })}`
    const next = `delete the damaged files, which are those of ${sets.join(', ')}${readBy}, then: ${broughtBy}`
    return fail('snapshot', problems, next)
  }
  const newest = openPuller === null ? null : await snapshots.current()
  if (newest !== null && newest.publishedAt < snapshot.publishedAt) {
    const [here, there] = [snapshot, newest].map(
      ({ id, publishedAt }) => `${id} of ${publishedAt.toISOString()}`,
    )
    const message = `this machine shows ${here}, and the lake has lost it: its newest is ${there}`
    return warn('snapshot', message, broughtBy)
  }
  const count = `${snapshot.relations.length} entity sets`
  return ok('snapshot', `${snapshot.id}, ${count}, ${snapshot.publishedAt.toISOString()}`)
}

async function checkStates(store: Store): Promise<Finding> {
  const { text, unreadable } = await keptCost(store)
  if (unreadable.length > 0)
    return warn('states', `${unreadable.join(', ')} cannot be read`, 'delete what is damaged')
  return ok('states', text ?? 'no published state is kept')
}

/** Files of variables stand in the project, or next to it where several machines are directories of one. */
async function filesWithSecrets(dir: string): Promise<readonly string[]> {
  const found = [join(dir, 'eider.yml')]
  for (const place of [dir, dirname(dir)])
    for (const name of await readdir(place).catch(() => []))
      if (/^\.env(?:\.|$)|\.env$/.test(name)) found.push(join(place, name))
  return found
}

/** A token for other machines is worthless where everybody on this one can read it. */
async function checkSecrets({ paths }: Project): Promise<Finding> {
  const exposed: string[] = []
  for (const path of await filesWithSecrets(paths.dir)) {
    const text = await readTextLater(path, limits.configFileBytes).catch(() => '')
    const holdsToken =
      /^\s*(?:export\s+)?(?:\w+_(?:TOKEN|PASSWORD|SECRET)\s*=|token\s*:)\s*(?!["']?\$\{)\S/m.test(
        text,
      )
    if (holdsToken && ((await stat(path)).mode & 0o004) !== 0)
      exposed.push(relative(paths.dir, path))
  }
  if (exposed.length === 0 || process.platform === 'win32')
    return ok('secrets', 'no secret can be read by other users')
  const message = `every user of this machine can read the secret in ${exposed.join(', ')}`
  return warn('secrets', message, `chmod o-r ${exposed.join(' ')}`)
}

/** `.env` is read by all commands, and two of them answer the network. */
async function checkLakeKeys({ paths }: Project): Promise<Finding> {
  const { values } = await readDotEnv(paths.dir)
  const found = lakeSecrets.filter((name) => values[name])
  if (found.length === 0) return ok('lake keys', 'the daemon and the service do not have them')
  return warn(
    'lake keys',
    `the daemon and the service read ${found.join(', ')} in .env without need`,
    'set the keys of the lake in the environment of flush, run, pull and maintain only',
  )
}

/** Only `eider up` needs it, perhaps at night. */
function checkNotify({ notify, secrets }: Project): Finding {
  try {
    const ways = Array.from(recipientsInForce(notify, secrets).keys(), (way) => `a ${way}`)
    return ok('notify', `${ways.join(' and ')} of ${notify?.on.join(', ')}`)
  } catch (error) {
    if (!(error instanceof DiagnosticsError)) throw error
    const [{ message, hint } = { message: error.message }] = error.diagnostics
    return warn('notify', message, hint ?? 'see docs/up.md')
  }
}

async function checkPort(name: string, host: string, port: number): Promise<Finding> {
  if (port === 0) return ok(name, 'takes any free port')
  if (!(await answers(host, port))) return ok(name, `port ${port} is free`)
  const isOurs = await isEider(host, port)
  if (isOurs) return ok(name, `eider answers on port ${port}`)
  const next = `stop that program, or set ${name}.port (${name.toUpperCase()}_PORT)`
  return warn(name, `another program answers on port ${port}`, next)
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port, timeout: limits.doctorTimeoutMs })
    const end = (result: boolean) => {
      socket.destroy()
      resolve(result)
    }
    socket.once('connect', () => end(true))
    socket.once('timeout', () => end(false))
    socket.once('error', () => end(false))
  })
}

/** Both services answer /health with JSON that has a status. */
async function isEider(host: string, port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(limits.doctorTimeoutMs)
    const response = await fetch(`http://${hostAndPort(host, port)}/health`, { signal })
    return typeof ((await response.json()) as { status?: unknown }).status === 'string'
  } catch {
    return false
  }
}

async function checkDisk({ paths }: Project): Promise<Finding> {
  if (hasNoInodes(paths.dir))
    return fail(
      'disk',
      'it has no inodes left, so it takes no more files',
      'remove files that nobody needs: events are refused and runs fail',
    )
  const { bavail, bsize } = await statfs(paths.dir)
  const bytes = bavail * bsize
  const message = `${Math.floor(bytes / 1024 ** 2).toLocaleString('en-US')} MiB free`
  return bytes < limits.lowDiskBytes
    ? warn('disk', message, 'make room: events are refused and runs fail on a full disk')
    : ok('disk', message)
}
