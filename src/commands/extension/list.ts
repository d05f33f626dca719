import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { BaseCommand } from '../../cli/base-command.ts'
import { withRequired } from '../../core/extensions.ts'
import { extensionsInForce } from '../../wiring/extensions-in-force.ts'

const SUFFIX = '.duckdb_extension'

export default class ExtensionList extends BaseCommand {
  static override summary =
    'List the extensions that are installed or needed, and whether they load'
  static override examples = ['<%= config.bin %> extension list']

  async run(): Promise<void> {
    const { flags } = await this.parse(ExtensionList)
    const open = () => this.openProject(flags)
    const { directory, needed } = await extensionsInForce(open, flags.project)
    const { extensionFile, versionOfExtension } = await import('../../duckdb/extension-files.ts')
    const { problemOfExtension } = await import('../../duckdb/extensions.ts')
    const there = await readdir(dirname(extensionFile(directory, ''))).catch(() => [])
    const installed = there.filter((file) => file.endsWith(SUFFIX))
    const names = new Set([
      ...withRequired(needed.map(({ name }) => name)),
      ...installed.map((file) => file.slice(0, -SUFFIX.length)).toSorted(),
    ])
    for (const name of names) {
      const path = extensionFile(directory, name)
      const problem = await problemOfExtension(directory, name)
      const status = problem === null ? 'installed' : problem.code.replace('extension-', '')
      const version = await versionOfExtension(path)
      const reasons = needed.filter((one) => one.name === name).map((one) => one.neededBy)
      const found = { name, status, version, path, needed_by: [...new Set(reasons)] }
      if (flags.json) this.printEvent({ event: 'extension', ...found, hint: problem?.hint })
      else {
        const why = found.needed_by.length === 0 ? '' : `  needed by ${found.needed_by.join(', ')}`
        this.print(
          `${status.padEnd(9)}  ${name.padEnd(16)}  ${(version ?? '').padEnd(10)}${why}`.trimEnd(),
        )
        if (problem !== null) this.print(`           next: ${problem.hint}`)
      }
    }
    if (flags.json) this.printEvent({ event: 'extensions-finished', extensions: names.size })
    else if (!flags.quiet) this.print(`${names.size === 0 ? 'none' : names.size} in ${directory}`)
  }
}
