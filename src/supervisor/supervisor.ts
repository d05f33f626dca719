// Daemon, service and scheduled runs as children of one process. Each is a separate process, so that none takes
// another along when it crashes; they share nothing but files, as without a supervisor.

import { hostname } from 'node:os'
import type { Catalog } from '../core/catalog.ts'
import { limits } from '../core/limits.ts'
import type {
  Notification,
  ScheduledState,
  ServiceName,
  SetBehind,
  UpEvent,
  UpState,
} from '../core/report/up.ts'
import type { Occasion } from '../core/notifications.ts'
import { behindText } from '../core/report/behind-text.ts'
import type { ScheduledRun } from '../core/schedule.ts'
import { Child, type Program } from './child.ts'
import { createNotifier, type Notifier, type NotifierOptions } from './notifications/notifier.ts'
import { FreshSets } from './fresh-sets.ts'
import type { News } from './punctuality.ts'
import { ScheduledRuns } from './scheduled-runs.ts'
import { type ServiceListening, ServiceChild } from './service.ts'
import { readUpState, StateFile } from './state-file.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { processIdentity } from '../files/process-lock.ts'

interface SupervisorOptions {
  readonly project: string
  readonly target: string | null
  /** Where the state of the target is; its lock is held by the caller. */
  readonly stateDir: string
  readonly services: readonly ServiceName[]
  readonly runs: readonly ScheduledRun[]
  readonly runNow: boolean
  readonly lateAfterMs: number | null
  readonly readStates: () => Promise<Catalog['states'] | null>
  readonly notify: Omit<NotifierOptions, 'onNotified'>
  readonly programOf: (service: ServiceName, before: ServiceListening | null) => Program
  readonly runProgram: (run: ScheduledRun, collect: ServiceListening | null) => Program
  readonly onEvent: (event: UpEvent) => void
  /** A line that a child has written for people, or into its log. */
  readonly onLog: (source: Source, line: string) => void
  readonly onProblem: (problem: string, error: unknown) => void
}

type Source = ServiceName | 'run' | 'notify'

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #startedAt = new Date().toISOString()
  readonly #services: readonly ServiceChild[]
  readonly #runs: ScheduledRuns
  readonly #sets: FreshSets
  #looking: NodeJS.Timeout | null = null
  readonly #notifier: Notifier
  readonly #file: StateFile
  /** Until all events have been told. */
  #said: Promise<void> = Promise.resolve()

  private constructor(options: SupervisorOptions, before: UpState | null) {
    this.#options = options
    const { services, runs, notify, onLog, lateAfterMs, onProblem } = options
    // Before the services: one that does not listen has started, and says so, as soon as it is made.
    this.#file = new StateFile(
      options.stateDir,
      () => this.#state(),
      (error) => onProblem('state-not-written', error),
    )
    const onEvent = (event: UpEvent) => this.#event(event)
    this.#notifier = createNotifier({
      ...notify,
      onNotified: (notified) => onEvent({ event: 'notified', ...notified }),
    })
    this.#services = services.map(
      (name) =>
        new ServiceChild({
          name,
          listens: name !== 'pull',
          start: (output, listening) => Child.start(options.programOf(name, listening), output),
          onEvent,
          onLog: (line) => onLog(name, line),
        }),
    )
    this.#sets = this.#setsAfter(before)
    this.#runs = new ScheduledRuns({
      runs,
      before: before?.runs ?? [],
      lateAfterMs,
      start: (run, output) =>
        Child.start(options.runProgram(run, this.#listening('collect')), output),
      onEvent,
      onNews: (news, state) => this.#tell(news, state),
      onLog: (line) => onLog('run', line),
    })
  }

  #setsAfter(before: UpState | null): FreshSets {
    return new FreshSets({
      read: this.#options.readStates,
      before: before?.behind ?? [],
      onBehind: (set) => {
        this.#event({ event: 'set-behind', ...set })
        this.#tellOfSet('behind', set)
      },
      onFresh: (set) => {
        this.#event({ event: 'set-fresh', name: set.name })
        this.#tellOfSet('recovered', set)
      },
    })
  }

  /** Starts the services, after those of a supervisor that was killed have ended. */
  static async start(options: SupervisorOptions): Promise<Supervisor> {
    const before = await readUpState(options.stateDir)
    if (before !== null)
      await endLeftovers(before, (pids) => options.onProblem('waiting-for-leftovers', pids))
    const supervisor = new Supervisor(options, before)
    supervisor.#file.save()
    return supervisor
  }

  /** Until `asked` resolves. Throws EnvironmentError when a service cannot be kept alive; all children have ended then. */
  async work(asked: Promise<void>): Promise<void> {
    const { project, target, runNow } = this.#options
    try {
      const ready = Promise.all(this.#services.map((service) => service.ready))
      const isReady = await Promise.race([ready.then(() => true), asked.then(() => false)])
      if (!isReady) return
      this.#runs.begin()
      const collect = this.#listening('collect')
      this.#event({
        event: 'up-ready',
        project,
        target,
        pid: process.pid,
        collect_url: collect?.url ?? null,
        admin_url: collect?.adminUrl ?? null,
        odata_url: this.#listening('serve')?.url ?? null,
        runs: this.#runs.upcoming(),
      })
      if (runNow) this.#runs.startAll()
      this.#looking = setInterval(() => void this.#lookAtSets(), limits.lookAtSetsMs)
      await Promise.race([asked, this.#runs.keepTime(), ...this.#services.map(({ done }) => done)])
    } finally {
      await this.#end()
    }
  }

  kill(): void {
    this.#runs.kill()
    for (const service of this.#services) service.kill()
  }

  /** First the run, which needs the daemon to give events back; then the services, which answer what was asked. */
  async #end(): Promise<void> {
    if (this.#looking !== null) clearInterval(this.#looking)
    await this.#runs.end(limits.childEndMs)
    await Promise.all(this.#services.map((service) => service.end(limits.childEndMs)))
    await this.#notifier.end(limits.lastNotificationMs)
    this.#file.save()
    await this.#file.saved()
    await this.#said
  }

  #listening(name: ServiceName): ServiceListening | null {
    return this.#services.find((service) => service.name === name)?.listening ?? null
  }

  async #lookAtSets(): Promise<void> {
    await this.#sets
      .look(Date.now())
      .catch((error: unknown) => this.#options.onProblem('freshness-not-read', error))
  }

  /** Told after its state is in the file, so that who reads of it finds it in `eider status`. */
  #event(event: UpEvent): void {
    if (event.event === 'scheduled-run-finished') this.#sets.noteRun()
    this.#file.save()
    this.#said = this.#said.then(() => this.#file.saved()).then(() => this.#options.onEvent(event))
  }

  #tell({ occasion, failures }: News, state: ScheduledState): void {
    const { name, when, last, waiting_since: dueAt } = state
    const of = { event: occasion, ...this.#place(), schedule: { name, when }, failures, run: last }
    const text = `${this.#where()}: the run "${name}" ${newsText(of, dueAt)}`
    this.#notifier.tell({ text, ...of })
  }

  #tellOfSet(event: Occasion, set: SetBehind): void {
    const text = `${this.#where()}: ${event === 'behind' ? behindText(set) : `${set.name} is fresh again`}`
    const of = { event, ...this.#place(), schedule: null, set, failures: 0, run: null }
    this.#notifier.tell({ text, ...of })
  }

  #place() {
    const { project, target } = this.#options
    return { project, target, host: hostname(), at: new Date().toISOString() }
  }

  #where(): string {
    const { project, target } = this.#options
    return target === null ? project : `${project} (${target})`
  }

  #state(): UpState {
    const { project, target } = this.#options
    return {
      version: 1,
      project,
      target,
      pid: process.pid,
      started_at: this.#startedAt,
      services: this.#services.map((service) => service.state()),
      runs: this.#runs.states(),
      ...(this.#sets.behind.length === 0 ? {} : { behind: this.#sets.behind }),
      notify: this.#notifier.state(),
    }
  }
}

function newsText(
  { event, failures, run }: Pick<Notification, 'event' | 'failures' | 'run'>,
  dueAt: string | null,
): string {
  if (event === 'failed') return `failed: ${run?.reason ?? 'for an unknown reason'}`
  if (event === 'late')
    return `is late: it was due at ${dueAt ?? 'an unknown time'}, and none has succeeded since`
  if (failures === 0) return 'recovered: it was late'
  return `recovered after ${failures} ${failures === 1 ? 'failure' : 'failures'}`
}

// Children of a supervisor that was killed. They stop when they find their channel closed, within seconds; until then
// they hold ports and locks that the next supervisor needs.

/** Waits for them to end; what is still there after that is killed. Where the system does not tell processes apart, none is. */
async function endLeftovers(state: UpState, onWait: (pids: number[]) => void) {
  const known: readonly { pid: number | null; process: string | null }[] = [
    ...state.services,
    ...state.runs.flatMap(({ working }) => (working === null ? [] : [working])),
  ]
  const all = known.flatMap(({ pid, process }) =>
    pid === null || process === null ? [] : [{ pid, process }],
  )
  const living = () => all.filter(({ pid, process }) => processIdentity(pid) === process)
  if (living().length === 0) return
  onWait(living().map(({ pid }) => pid))
  const deadline = performance.now() + limits.childEndMs
  while (living().length > 0) {
    if (performance.now() > deadline) for (const { pid } of living()) kill(pid)
    await sleep(limits.leftoverPollMs)
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
