import { writeFile } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { readTextLater } from '../files/read-file.ts'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.ts'
import { count } from '../core/counts.ts'
import { UsageError } from '../core/failures.ts'
import { problemOfSystem } from '../files/system-errors.ts'

const STDIN = '-'

export default class Fmt extends BaseCommand {
  static override summary = 'Format the annotations of models; SQL is never changed'
  static override examples = [
    '<%= config.bin %> fmt',
    '<%= config.bin %> fmt --check',
    '<%= config.bin %> fmt models/core/orders.sql',
    '<%= config.bin %> fmt - < models/core/orders.sql',
  ]
  static override strict = false
  static override usage = '[FILE...] [FLAGS]'
  static override flags = {
    check: Flags.boolean({
      summary: 'Change nothing, list the files that would change; exit code 1 if any',
    }),
  }

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(Fmt)
    const { formatHeader } = await import('../editor/format-header.ts')
    const typedIn = process.cwd()
    const files = argv.length > 0 ? argv.map(String) : await this.#filesOfProject(flags)
    let changed = 0
    for (const file of files) {
      const path = file === STDIN ? '<stdin>' : resolve(typedIn, file)
      const text = file === STDIN ? await readStdin() : await read(path)
      const formatted = formatHeader(text)
      const isChanged = formatted !== text
      if (isChanged) changed++
      if (isChanged && !flags.check && file !== STDIN) await writeFile(path, formatted)
      const shown = file === STDIN ? path : relative(typedIn, path)
      if (flags.json) this.printEvent({ event: 'formatted', path: shown, changed: isChanged })
      else if (file === STDIN && !flags.check) process.stdout.write(formatted)
      else if (isChanged) this.print(flags.check ? shown : `formatted  ${shown}`)
    }
    const ok = !flags.check || changed === 0
    const counts = { files: files.length, changed }
    if (flags.json) this.printEvent({ event: 'fmt-finished', ok, ...counts })
    else if (!files.includes(STDIN) && !flags.quiet)
      this.print(
        flags.check
          ? `${changed} of ${count(files.length, 'file')} would change`
          : `${changed} of ${count(files.length, 'file')} changed`,
      )
    this.exit(ok ? 0 : 1)
  }

  async #filesOfProject(flags: Parameters<Fmt['openProject']>[0]): Promise<readonly string[]> {
    const { files, paths } = await this.openProject(flags)
    const sources = [...files.models.map(({ source }) => source), ...(files.checks ?? [])]
    return sources.map(({ path }) => resolve(paths.dir, path))
  }
}

async function read(path: string): Promise<string> {
  try {
    return await readTextLater(path)
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${problemOfSystem(error)}`, {
      hint: 'name files, such as models/core/orders.sql, or none for all of the project',
    })
  }
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
