import { BaseCommand } from '../cli/base-command.ts'
import type { Style } from '../cli/paint.ts'
import type { Finding } from '../report/checkup.ts'

const styles = { ok: 'green', warn: 'yellow', fail: 'red' } as const satisfies Record<string, Style>

export default class Doctor extends BaseCommand {
  static override summary = 'Check the machine and the project, and say what to do next'
  static override examples = ['<%= config.bin %> doctor']

  async run(): Promise<void> {
    const { flags } = await this.parse(Doctor)
    const project = await this.openProject(flags)
    const { checkUp } = await import('../report/checkup.ts')
    const paint = this.paintFor(flags)
    let failed = false
    for await (const finding of checkUp(project)) {
      failed ||= finding.status === 'fail'
      if (flags.json) this.printEvent({ event: 'check', ...finding })
      else this.print(line(finding, (status) => paint(styles[status], status.padEnd(4))))
    }
    if (flags.json) this.printEvent({ event: 'doctor-finished', ok: !failed })
    this.exit(failed ? 1 : 0)
  }
}

function line(
  { status, check, message, next }: Finding,
  word: (status: Finding['status']) => string,
): string {
  const head = `${word(status)}  ${check.padEnd(9)}  ${message}`
  return next === undefined ? head : `${head}\n      next: ${next}`
}
