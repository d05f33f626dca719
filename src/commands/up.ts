import * as Flags from '@oclif/core/flags'
import { BaseCommand, type FlagsOf } from '../cli/base-command.ts'
import { childLine, upcomingText, upLine, upText } from '../cli/show-up.ts'
import { timeStamp } from '../cli/run-lines.ts'
import { onStop } from '../cli/signals.ts'
import { variableFlags } from '../cli/shared-flags.ts'
import type { UpEvent } from '../core/report/up.ts'
import type { Project } from '../project/project.ts'
import { traitsOf } from '../store/traits-of.ts'
import type { UnitKind } from '../supervisor/units.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'

export type UpFlags = FlagsOf<typeof Up>

export default class Up extends BaseCommand {
  static override summary = 'Collect events, run on the schedule of eider.yml, and serve'
  static override examples = [
    '<%= config.bin %> up',
    '<%= config.bin %> up --run-now',
    '<%= config.bin %> up --no-collect',
  ]
  static override flags = {
    ...variableFlags,
    'no-collect': Flags.boolean({ summary: 'Do not start the collect daemon' }),
    'no-serve': Flags.boolean({ summary: 'Do not start the OData service' }),
    'run-now': Flags.boolean({ summary: 'Also start each scheduled run once right away' }),
    'allow-anonymous': Flags.boolean({ summary: 'Open ports to other machines without a token' }),
    print: Flags.option({ options: ['systemd', 'launchd', 'compose'] as const })({
      summary: 'Print a service definition for this directory and user; start nothing',
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Up)
    const started: { supervisor?: Supervisor } = {}
    using stop = onStop(() => started.supervisor?.kill())
    const project = await this.openProject(flags)
    if (flags.print !== undefined) return await this.#printUnit(flags.print, project, flags)
    const { checkSchedule } = await import('../supervisor/check-schedule.ts')
    const { recipientsInForce } = await import('../project/notify.ts')
    const { deliveriesTo } = await import('../supervisor/notifications/ways.ts')
    const { programs, runOnce } = await import('../wiring/up/programs.ts')
    const { takeUpLock } = await import('../supervisor/up-lock.ts')
    const { schedule, paths, notify } = project
    const child = programs(project, flags)
    const log = this.#log(flags)
    const ways = deliveriesTo(recipientsInForce(notify, project.secrets), {
      cwd: paths.dir,
      onLine: (line) => log('notify', line),
    })
    await using _lock = await takeUpLock(paths.state)
    await checkSchedule(schedule, child.check)
    if (stop.signal.aborted) return
    const { Supervisor: Supervising } = await import('../supervisor/supervisor.ts')
    const supervisor = await Supervising.start({
      project: project.name,
      target: project.target,
      stateDir: paths.state,
      services: servicesOf(project, flags),
      runs: schedule.runs.length === 0 && flags['run-now'] ? [runOnce] : schedule.runs,
      runNow: flags['run-now'],
      lateAfterMs: notify?.lateAfterMs ?? null,
      readStates: () => traitsOf(paths).readStates(),
      notify: { on: notify?.on ?? [], ways },
      programOf: child.service,
      runProgram: child.run,
      onEvent: (event) => this.#show(event, flags),
      onLog: log,
      onProblem: (problem, detail) => this.loggerFor(flags).warn(problem, { detail }),
    })
    started.supervisor = supervisor
    const asked = stop.asked.then(() => {
      const because = stop.exitCode() === 130 ? 'Ctrl-C' : 'SIGTERM'
      this.#show({ event: 'up-stopping', because }, flags)
    })
    await supervisor.work(asked)
  }

  async #printUnit(kind: UnitKind, project: Project, flags: UpFlags): Promise<void> {
    const { deploymentOf } = await import('../wiring/up/deployment-of.ts')
    const { unitText } = await import('../supervisor/units.ts')
    const text = unitText(kind, deploymentOf(project, flags, this.config.version))
    if (flags.json) this.printEvent({ event: 'unit', kind, text })
    else process.stdout.write(text)
  }

  #log(flags: UpFlags): (source: string, line: string) => void {
    const json = flags.json || !process.stderr.isTTY
    return (source, line) => {
      const shown = childLine(source, line, json)
      if (shown !== null) process.stderr.write(`${shown}\n`)
    }
  }

  #show(event: UpEvent, flags: UpFlags): void {
    if (flags.json) return this.printEvent(event)
    const paint = this.paintFor(flags)
    if (event.event === 'up-ready') return this.#head(event, flags)
    const text = upText(event)
    const isNews = text !== null && !['ok', 'stopping', 'started'].includes(text[1])
    if (text === null || (flags.quiet && !isNews)) return
    // Of the wall for who sits before it.
    const now = new Date()
    const time = process.stdout.isTTY ? now.toTimeString().slice(0, 8) : timeStamp(now)
    this.print(upLine(time, text, paint))
  }

  #head(event: Extract<UpEvent, { event: 'up-ready' }>, { quiet }: UpFlags): void {
    if (quiet) return
    const { collect_url: collect, odata_url: odata } = event
    const where = event.target === null ? event.project : `${event.project} (${event.target})`
    this.print(
      `eider ${this.config.version} · ${where}${process.stdout.isTTY ? '    Ctrl-C stops everything' : ''}\n`,
    )
    if (collect !== null) this.print(`collect   ${collect}/collect`)
    if (odata !== null) this.print(`odata     ${odata}`)
    this.print(`runs      ${upcomingText(event.runs)}\n`)
  }
}

const servicesOf = ({ paths }: Project, flags: UpFlags) => [
  ...(flags['no-collect'] ? [] : (['collect'] as const)),
  ...(flags['no-serve'] ? [] : (['serve'] as const)),
  // What is published in a lake has to be brought here to be served.
  ...(flags['no-serve'] || !traitsOf(paths).isPulled ? [] : (['pull'] as const)),
]
