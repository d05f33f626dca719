// The processes of a project as commands open them: the daemon, a run, the service; and what asks them from elsewhere.

import type { Said } from './forgotten-keys.ts'
import './install.ts'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EnvironmentError } from '../../src/core/failures.ts'
import { createLogger, type Logger } from '../../src/core/logger.ts'
import type { CompiledProject } from '../../src/core/model.ts'
import type { RunSummary } from '../../src/core/report/progress.ts'
import { ODataService } from '../../src/odata/service.ts'
import { runPipeline } from '../../src/pipeline/run.ts'
import type { Project } from '../../src/project/project.ts'
import { openPuller } from '../../src/store/lake/puller.ts'
import { openStore } from '../../src/store/open.ts'
import { openClaims, openEventBuffer } from '../../src/wiring/claims.ts'
import { openDaemon } from '../../src/wiring/collect/open-daemon.ts'
import { runOptionsOf } from '../../src/wiring/run-options.ts'
import { serviceOptions } from '../../src/wiring/service-options.ts'
import type { SimulatedLake } from './simulated-lake.ts'
import { runIn, type SimulatedProcess, type World } from './world.ts'

const PULL_EVERY_MS = 200

export interface Compiled {
  readonly project: Project
  readonly models: CompiledProject
}

/** The same project on another machine that collects into the same warehouse: its buffer and its ports are its own. */
export function secondCollector({ project, models }: Compiled): Compiled {
  const { paths, settings } = project
  const dir = join(paths.state, 'second')
  return {
    models,
    project: {
      ...project,
      paths: { ...paths, buffer: join(dir, 'buffer'), collectLock: join(dir, 'collect.lock') },
      settings: {
        ...settings,
        'collect.port': settings['collect.port'] + 100,
        'collect.admin_port': settings['collect.admin_port'] + 100,
      },
    },
  }
}

/** The same project on a machine that pulls what is published, for a service of its own. */
export function follower({ project, models }: Compiled): Compiled {
  const { paths, settings } = project
  const state = join(paths.state, 'follower')
  return {
    models,
    project: {
      ...project,
      paths: { ...paths, state, snapshots: join(state, 'snapshots') },
      settings: { ...settings, 'odata.port': settings['odata.port'] + 200 },
    },
  }
}

/** Things are remembered by these objects, and a process remembers nothing of those before it. */
const ofOneProcess = (models: CompiledProject): CompiledProject => ({
  ...models,
  models: new Map(Array.from(models.models, ([name, model]) => [name, { ...model }])),
})

/** Lines of the log are part of what a seed gives. */
const loggerOf = (process: SimulatedProcess, said: Said = () => {}): Logger =>
  createLogger(({ event, fields }) => {
    const { world, name } = process
    const { code = '', error = '', problem = '' } = fields
    world.note(`${name} says ${event} ${String(code)} ${String(error)} ${String(problem)}`)
    said(event, process)
  }, 'info')

/** What `work` throws that is not a refusal is a bug, and `failed` is told of it. */
function startProcess<T>(
  world: World,
  name: string,
  work: (process: SimulatedProcess) => Promise<T>,
): { readonly process: SimulatedProcess; readonly done: Promise<T | Error> } {
  const process = world.start(name)
  const done = runIn(process, () => work(process)).catch((error: unknown) => error as Error)
  return { process, done }
}

/** `said` is told of the lines of its log. */
export function startDaemon(world: World, { project, models }: Compiled, name: string, said: Said) {
  const targets = new Map(
    [...ofOneProcess(models).models].flatMap(([key, model]) =>
      model.kind === 'events' ? [[key, model]] : [],
    ),
  )
  return startProcess(world, name, async (process) => {
    const logger = loggerOf(process, said)
    const buffer = await openEventBuffer(project, { role: 'daemon', logger })
    await openDaemon(project, buffer, targets, { allowAnonymous: false, logger })
    world.note(`${name} listens`)
  })
}

export function startRun(world: World, { project, models }: Compiled, said: Said) {
  return startProcess(world, 'run', (process): Promise<RunSummary> => {
    const logger = loggerOf(process, said)
    const { paths } = project
    return runPipeline({
      ...runOptionsOf(project),
      paths,
      store: openStore(paths),
      openClaims: () => openClaims(project, logger),
      project: ofOneProcess(models),
      lockWaitMs: 0,
      signal: new AbortController().signal,
      progress: () => {},
      logger,
    })
  })
}

/** `eider pull --every`, until it has pulled so many times. */
export function startPull(world: World, { project }: Compiled, lake: SimulatedLake, times: number) {
  return startProcess(world, 'pull', async () => {
    const { paths, settings } = project
    await using puller = await openPuller(lake.session(paths))
    const retention = { snapshots: settings['odata.keep_snapshots'], ms: 0 }
    const options = { retention, takeUpMs: 0, signal: new AbortController().signal }
    for (let left = times; left > 0; left--) {
      const { snapshot, files, missed } = await puller.pull(options)
      world.note(`pulled ${snapshot?.id} ${files} ${missed.join(' ')}`)
      if (left > 1) await sleep(PULL_EVERY_MS)
    }
  })
}

export function startService(world: World, { project }: Compiled, name: string) {
  return startProcess(world, name, async (process) => {
    const { published } = openStore(project.paths)
    const options = serviceOptions(project, loggerOf(process))
    await ODataService.open({ ...options, published, pages: null, accessLog: false })
    world.note(`${name} listens`)
  })
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly snapshot: string | undefined
}

/** null: the connection broke, or nobody listens. */
export function ask(
  client: SimulatedProcess,
  options: {
    readonly port: number
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
  },
  body: string,
): Promise<Answer | null> {
  return runIn(
    client,
    () =>
      new Promise((resolve) => {
        const sent = request({ host: '127.0.0.1', ...options }, (response) => {
          let text = ''
          response.on('data', (chunk: Buffer) => (text += chunk.toString()))
          response.on('end', () => {
            const snapshot = response.headers['eider-snapshot'] as string | undefined
            resolve({ status: response.statusCode ?? 0, text, snapshot })
          })
          response.on('error', () => resolve(null))
        })
        sent.on('error', () => resolve(null))
        sent.end(body)
      }),
  )
}

/** A process may end because of what the system refuses it, and says so. Anything else is a bug. */
export const isRefusal = (error: Error): boolean => error instanceof EnvironmentError

/** Of an error that came while another one was on its way, both. */
export function isOfSystem(error: unknown): boolean {
  const { suppressed, error: later } = (error ?? {}) as Partial<SuppressedError>
  if (suppressed !== undefined) return isOfSystem(suppressed) || isOfSystem(later)
  return error instanceof Error && 'syscall' in error
}
