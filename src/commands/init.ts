import { join, relative, resolve } from 'node:path'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { UsageError } from '../core/failures.ts'
import { packageDir } from '../files/package.ts'
import { BaseCommand } from '../cli/base-command.ts'

export default class Init extends BaseCommand {
  static override summary = 'Start a project that runs'
  static override examples = ['<%= config.bin %> init demo']
  static override args = {
    directory: Args.string({ description: 'New or empty directory', default: '.' }),
  }
  static override flags = {
    template: Flags.option({ options: ['events', 'blank'] as const, default: 'events' as const })({
      summary: 'events: a small working pipeline; blank: nothing but the frame',
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Init)
    const { initProject } = await import('../project/init.ts')
    if (args.directory === '') throw new UsageError('the name of the directory is empty')
    const dir = resolve(args.directory)
    const templatesDir = join(packageDir, 'templates')
    const files = await initProject({ dir, template: flags.template, templatesDir })
    if (flags.json) return this.printEvent({ event: 'initialized', dir, files })
    for (const file of flags.quiet ? [] : files) this.print(`wrote ${file}`)
    const place = relative('.', dir)
    this.print(`next: ${place === '' ? '' : `cd ${quoted(place)} && `}eider run`)
  }
}

/** As one word of a shell. */
function quoted(path: string): string {
  const word = path.startsWith('-') ? `./${path}` : path
  return /^[\p{L}\p{N}_./@%+=:,-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
