import { BaseCommand } from '../../cli/base-command.ts'
import type { CollectStatus, TargetStatus } from '../../core/report/collect-status.ts'
import { damagedText } from '../../core/report/damaged-events.ts'
import { tableLines } from '../../cli/table.ts'

export default class CollectStatusCommand extends BaseCommand {
  static override summary = 'Show buffered, claimed and rejected events'
  static override examples = [
    '<%= config.bin %> collect status',
    '<%= config.bin %> collect status --json',
  ]

  async run(): Promise<void> {
    const { flags } = await this.parse(CollectStatusCommand)
    const project = await this.openProject(flags)
    const { readStatus } = await import('../../report/collect-status.ts')
    const status = await readStatus(project, this.loggerFor(flags))
    if (flags.json) this.printEvent({ event: 'collect-status', ...status })
    else this.print(showStatus(status))
  }
}

const COLUMNS: readonly [title: string, text: (target: TargetStatus) => string][] = [
  ['target', ({ target }) => target],
  ['buffered', ({ buffered }) => String(buffered)],
  ['claimed', ({ claimed }) => String(claimed)],
  ['rejected', ({ rejected }) => String(rejected ?? '?')],
  ['bytes', ({ bytes }) => String(bytes)],
  ['rate/s', ({ rate }) => String(rate ?? '-')],
  ['oldest', ({ oldest }) => oldest ?? '-'],
]

function showStatus(status: CollectStatus): string {
  const { daemon, targets, damaged = [], rejected_unknown: unknown } = status
  const head = daemon
    ? 'the daemon is running'
    : 'no daemon is running; read from the buffer on disk'
  const notes = damaged.map((kept) => `damaged: ${kept.target}: ${damagedText(kept)}`)
  if (unknown !== null) notes.push(`rejected events are unknown: ${unknown}`)
  if (targets.length === 0) return [head, 'nothing was collected', ...notes].join('\n')
  const rows = [
    COLUMNS.map(([title]) => title),
    ...targets.map((target) => COLUMNS.map(([, text]) => text(target))),
  ]
  const lines = tableLines(rows, { isRight: (i) => i > 0 && i < COLUMNS.length - 1 })
  return [head, ...lines, ...notes].join('\n')
}
