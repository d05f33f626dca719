// Where the answers of `eider status` come from: the state file of the supervisor, the services by HTTP, and the disk.

import { join } from 'node:path'
import { damagedEvents } from '../buffer/damaged.ts'
import { waitingBytes } from '../buffer/waiting.ts'
import { type UnbuiltSet, unbuiltSets } from '../core/unbuilt.ts'
import { limits } from '../core/limits.ts'
import { behindText } from '../core/report/behind-text.ts'
import {
  type DamagedEvents,
  damagedText,
  WHAT_TO_DO_WITH_DAMAGED,
} from '../core/report/damaged-events.ts'
import type { ScheduledState, ServiceState, SetBehind, UpState } from '../core/report/up.ts'
import type { RunStatus, ServiceStatus, UpProblem, UpStatus } from '../core/report/up-status.ts'
import { readLockHolder } from '../files/process-lock.ts'
import type { Project } from '../project/project.ts'
import { traitsOf } from '../store/traits-of.ts'
import { readUpState } from '../supervisor/state-file.ts'
import { upLock } from '../supervisor/up-lock.ts'
import { failedLastRun } from './last-run.ts'

interface Health {
  readonly status?: string
  readonly events?: number
  readonly snapshot?: string | null
  readonly published_at?: string | null
}

interface Asked {
  readonly service: ServiceState
  /** null: it does not answer. */
  readonly health: Health | null
}

/** `liveOnly`: whether only the processes count, and not how runs went or what the disk has changed. */
export async function readUpStatus(
  project: Project,
  { liveOnly }: { readonly liveOnly: boolean },
): Promise<UpStatus> {
  const { paths, name, target } = project
  const supervisor = await supervisorIn(paths.state)
  const { state, isAtWork, asked } = supervisor
  // What is at work knows its runs itself, and tries one that has failed again.
  const failed = isAtWork || liveOnly ? null : await failedLastRun(paths.target)
  const isTold = ({ last }: ScheduledState) => failed !== null && last?.run_id === failed.runId
  const problems = [
    ...(isAtWork ? [] : [notAtWork(supervisor.isStarting)]),
    ...asked.flatMap(problemOfService),
    ...(liveOnly
      ? []
      : [
          ...(failed === null ? [] : [failed.problem]),
          ...(state?.runs ?? [])
            .filter((run) => !isTold(run))
            .map(runStatus)
            .flatMap(problemOfRun),
          ...(state?.behind ?? []).map(problemOfSet),
          ...(await damagedEvents(paths.buffer)).map(problemOfEvents),
          ...(await unbuiltIn(project)).map(problemOfUnbuilt),
        ]),
  ]
  return {
    healthy: problems.length === 0,
    problems,
    project: name,
    target,
    ...ofSupervisor(supervisor),
    events: await eventsIn(paths.buffer, asked),
    publication: publicationServed(asked) ?? (await publicationOf(project)),
  }
}

/**
 * The status of a project that has a mistake, which changes nothing in what runs, by what its supervisor knows.
 * `stateDir` is that of the target. null: no supervisor is at work.
 */
export async function readRunningStatus(
  stateDir: string,
  mistake: UpProblem,
  { liveOnly }: { readonly liveOnly: boolean },
): Promise<UpStatus | null> {
  const supervisor = await supervisorIn(stateDir)
  const { state, isAtWork, asked } = supervisor
  if (state === null || !isAtWork) return null
  const problems = [...asked.flatMap(problemOfService), ...(liveOnly ? [] : [mistake])]
  return {
    healthy: problems.length === 0,
    problems,
    project: state.project,
    target: state.target,
    ...ofSupervisor(supervisor),
    events: await eventsIn(join(stateDir, 'buffer'), asked),
    publication: publicationServed(asked),
  }
}

interface Supervisor {
  /** What it wrote last; null: none has. */
  readonly state: UpState | null
  readonly isAtWork: boolean
  readonly isStarting: boolean
  /** Its services, none where it is not at work. */
  readonly asked: readonly Asked[]
}

async function supervisorIn(stateDir: string): Promise<Supervisor> {
  const holder = await readLockHolder(upLock(stateDir))
  const state = await readUpState(stateDir)
  const isAlive = holder?.alive === true
  const isAtWork = isAlive && state?.pid === holder.holder.pid
  const asked = await Promise.all((isAtWork ? state.services : []).map(ask))
  return { state, isAtWork, isStarting: isAlive && !isAtWork, asked }
}

function ofSupervisor({
  state,
  isAtWork,
  asked,
}: Supervisor): Pick<UpStatus, 'up' | 'services' | 'runs' | 'notify'> {
  const runs = (state?.runs ?? []).map(runStatus)
  return {
    up: state !== null && isAtWork ? { pid: state.pid, since: state.started_at } : null,
    services: asked.map(serviceStatus),
    runs: isAtWork ? runs : runs.map((run) => ({ ...run, next: null, working_since: null })),
    notify: state?.notify ?? NONE_SENT,
  }
}

const NONE_SENT: UpState['notify'] = { sent: 0, failed: 0, last_failure: null }

const notAtWork = (isStarting: boolean): UpProblem =>
  isStarting
    ? { message: 'eider up is starting', next: 'try again in a few seconds' }
    : { message: 'eider up is not running here', next: 'eider up' }

/** Both services answer GET /health; what else listens beside does not matter here. */
async function ask(service: ServiceState): Promise<Asked> {
  const url = service.admin_url ?? service.url
  if (url === null || service.state !== 'running') return { service, health: null }
  try {
    const signal = AbortSignal.timeout(limits.statusTimeoutMs)
    const response = await fetch(new URL('/health', url), { signal })
    return { service, health: (await response.json()) as Health }
  } catch {
    return { service, health: null }
  }
}

function serviceStatus({ service, health }: Asked): ServiceStatus {
  const { state, pid, since, url, admin_url, restarts, last_end } = service
  const known = { state, pid, since, url, admin_url, restarts, last_end }
  return { service: service.service, ...known, health: health?.status ?? null }
}

function problemOfService({ service, health }: Asked): readonly UpProblem[] {
  const { service: name, state, last_end: end } = service
  const next = 'eider doctor checks the machine; the log of eider up says more'
  if (state !== 'running') {
    const why = end === null ? '' : `, its last exit: ${end}`
    return [{ message: `${name} is ${state}${why}`, next }]
  }
  if (service.url === null || health?.status === 'ok') return []
  const message =
    health === null ? `${name} does not answer` : `${name} says that it is ${health.status}`
  return [{ message, next }]
}

function problemOfRun({ name, failures, last, late, waiting_since: since }: RunStatus) {
  const next = 'eider history lists the last runs'
  const reason = last?.reason == null ? '' : `: ${last.reason}`
  return [
    ...(failures > 0 ? [{ message: `the run "${name}" failed${reason}`, next }] : []),
    ...(late ? [{ message: `the run "${name}" is late, it was due at ${since}`, next }] : []),
  ]
}

const problemOfSet = (set: SetBehind): UpProblem => ({
  message: behindText(set),
  next: 'eider history lists the last runs, and the schedule in eider.yml says how often they start',
})

const problemOfEvents = (kept: DamagedEvents): UpProblem => ({
  message: `${kept.target}: ${damagedText(kept)}`,
  next: WHAT_TO_DO_WITH_DAMAGED,
})

/** What a run has said of the state that is published. */
async function unbuiltIn({ paths }: Project): Promise<readonly UnbuiltSet[]> {
  if (traitsOf(paths).isPulled) return []
  const { openStore } = await import('../store/open.ts')
  const { snapshots } = openStore(paths)
  const snapshot = await snapshots.current()
  const text = snapshot && (await snapshots.catalog(snapshot.id))
  return text === null ? [] : unbuiltSets(text, snapshot!)
}

const problemOfUnbuilt = ({ name, model, because }: UnbuiltSet): UpProblem => ({
  message: `the set ${name} is not there yet, no build of ${model} has succeeded: ${because}`,
  next: `fix it, then: eider run ${model}`,
})

function runStatus({ working, ...rest }: UpState['runs'][number]): RunStatus {
  return { ...rest, working_since: working?.since ?? null }
}

async function eventsIn(buffer: string, asked: readonly Asked[]): Promise<UpStatus['events']> {
  const bytes = [...(await waitingBytes(buffer)).values()].reduce((sum, n) => sum + n, 0)
  const collect = asked.find(({ service }) => service.service === 'collect')
  return { waiting: collect?.health?.events ?? (bytes === 0 ? 0 : null), bytes }
}

/** null: the service does not say so. */
function publicationServed(asked: readonly Asked[]): UpStatus['publication'] {
  const { health = null } = asked.find(({ service }) => service.service === 'serve') ?? {}
  if (health?.snapshot == null || health.published_at == null) return null
  return { id: health.snapshot, published_at: health.published_at }
}

/** By the disk. */
async function publicationOf({ paths }: Project): Promise<UpStatus['publication']> {
  if (traitsOf(paths).isPulled) return null // only its service knows what has been brought here
  const { openStore } = await import('../store/open.ts')
  const snapshot = await openStore(paths).snapshots.current()
  return snapshot && { id: snapshot.id, published_at: snapshot.publishedAt.toISOString() }
}
