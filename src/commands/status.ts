import * as Flags from '@oclif/core/flags'
import { BaseCommand, type FlagsOf } from '../cli/base-command.ts'
import { showUpStatus } from '../cli/show-status.ts'
import { DiagnosticsError, lineOf } from '../core/diagnostics.ts'
import { UsageError } from '../core/failures.ts'
import type { UpProblem, UpStatus } from '../core/report/up-status.ts'

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
    const status = await this.#read(flags)
    if (flags.json) this.printEvent({ event: 'status', ...status })
    else if (flags.quiet) for (const { message } of status.problems) this.print(message)
    else this.print(showUpStatus(status, new Date(), this.paintFor(flags)))
    this.exit(status.healthy ? 0 : 1)
  }

  async #read(flags: FlagsOf<typeof Status>): Promise<UpStatus> {
    const { readRunningStatus, readUpStatus } = await import('../report/status.ts')
    const how = { liveOnly: flags.live }
    let project
    try {
      project = await this.openProject(flags)
    } catch (mistake) {
      if (!(mistake instanceof DiagnosticsError || mistake instanceof UsageError)) throw mistake
      const { findProjectDir, stateDirOf } = await import('../project/load.ts')
      const dir = flags.project ?? (await findProjectDir(process.cwd()))
      if (dir === null) throw mistake
      const stateDir = await stateDirOf(dir, { env: process.env, target: flags.target })
      const status = await readRunningStatus(stateDir, problemOf(mistake), how)
      if (status === null) throw mistake
      return status
    }
    return readUpStatus(project, how)
  }
}

/** What runs keeps the settings that it has started with. */
function problemOf(mistake: DiagnosticsError | UsageError): UpProblem {
  const [first] = mistake instanceof DiagnosticsError ? mistake.diagnostics : []
  const message = first === undefined ? mistake.message : lineOf(first)
  return {
    message: `the project cannot be read: ${message}`,
    next: 'fix it: eider up would not start again',
  }
}
