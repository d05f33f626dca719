import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.ts'
import { showUpStatus } from '../cli/show-status.ts'

export default class Status extends BaseCommand {
  static override summary = 'Show what eider up is doing here, and whether everything is healthy'
  static override examples = ['<%= config.bin %> status', '<%= config.bin %> status --live --quiet']
  static override flags = {
    live: Flags.boolean({
      summary: 'Check the processes only, not the outcome of runs; for health checks',
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Status)
    const project = await this.openProject(flags)
    const { readUpStatus } = await import('../report/status.ts')
    const status = await readUpStatus(project, { liveOnly: flags.live })
    if (flags.json) this.printEvent({ event: 'status', ...status })
    else if (flags.quiet) for (const { message } of status.problems) this.print(message)
    else this.print(showUpStatus(status, new Date(), this.paintFor(flags)))
    this.exit(status.healthy ? 0 : 1)
  }
}
