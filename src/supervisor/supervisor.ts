// Daemon, service and scheduled runs as children of one process. Each is a separate process, so that none takes
// another along when it crashes; they share nothing but files, as without a supervisor.

import { hostname } from 'node:os'
import { limits } from '../core/limits.ts'
import type {
  Notification,
  ScheduledState,
  ServiceName,
  UpEvent,
  UpState,
} from '../core/report/up.ts'
import type { ScheduledRun } from '../core/schedule.ts'
import { Child, type Program } from './child.ts'
import { createNotifier, type Notifier, type NotifierOptions } from './notifications/notifier.ts'
import type { News } from './punctuality.ts'
import { ScheduledRuns } from './scheduled-runs.ts'
import { type Listening, ServiceChild } from './service.ts'
import { readUpState, StateFile } from './state-file.ts'
import { endLeftovers } from './leftovers.ts'

interface SupervisorOptions {
  readonly project: string
  readonly target: string | null
  /** Where the state of the target is; its lock is held by the caller. */
  readonly stateDir: string
  readonly services: readonly ServiceName[]
  readonly runs: readonly ScheduledRun[]
  readonly runNow: boolean
  readonly lateAfterMs: number | null
  readonly notify: Omit<NotifierOptions, 'onNotified'>
  readonly programOf: (service: ServiceName, before: Listening | null) => Program
  readonly runProgram: (run: ScheduledRun, collect: Listening | null) => Program
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
  readonly #notifier: Notifier
  readonly #file: StateFile

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
    await this.#runs.end(limits.childEndMs)
    await Promise.all(this.#services.map((service) => service.end(limits.childEndMs)))
    await this.#notifier.end(limits.lastNotificationMs)
    this.#file.save()
    await this.#file.saved()
  }

  #listening(name: ServiceName): Listening | null {
    return this.#services.find((service) => service.name === name)?.listening ?? null
  }

  #event(event: UpEvent): void {
    this.#options.onEvent(event)
    this.#file.save()
  }

  #tell({ occasion, failures }: News, state: ScheduledState): void {
    const { project, target } = this.#options
    const { name, when, last, waiting_since: dueAt } = state
    const place = { project, target, host: hostname(), at: new Date().toISOString() }
    const of = { event: occasion, ...place, schedule: { name, when }, failures, run: last }
    this.#notifier.tell({ text: notificationText(of, dueAt), ...of })
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
      notify: this.#notifier.state(),
    }
  }
}

function notificationText(of: Omit<Notification, 'text'>, dueAt: string | null): string {
  const { event, project, target, schedule, failures, run } = of
  const where = target === null ? project : `${project} (${target})`
  return `${where}: the run "${schedule.name}" ${what()}`

  function what(): string {
    if (event === 'failed') return `failed: ${run?.reason ?? 'for an unknown reason'}`
    if (event === 'late')
      return `is late: it was due at ${dueAt ?? 'an unknown time'}, and none has succeeded since`
    if (failures === 0) return 'recovered: it was late'
    return `recovered after ${failures} ${failures === 1 ? 'failure' : 'failures'}`
  }
}
