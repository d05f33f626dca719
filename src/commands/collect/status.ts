import { BaseCommand } from '../../cli/base-command.ts'

export default class CollectStatus extends BaseCommand {
  static override summary = 'Show buffered, claimed and rejected events'
  static override examples = [
    '<%= config.bin %> collect status',
    '<%= config.bin %> collect status --json',
  ]

  async run(): Promise<void> {
    const { flags } = await this.parse(CollectStatus)
    const project = await this.openProject(flags)
    const { readStatus } = await import('../../report/collect-status.ts')
    const { showStatus } = await import('../../cli/show-status.ts')
    const status = await readStatus(project, this.loggerFor(flags))
    if (flags.json) this.printEvent({ event: 'collect-status', ...status })
    else this.print(showStatus(status))
  }
}
