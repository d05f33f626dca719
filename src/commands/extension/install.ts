import { resolve } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.ts'
import {
  builtInExtensions,
  type ExtensionLock,
  extensionNamed,
  extensionNames,
  withRequired,
} from '../../core/extensions.ts'
import { UsageError } from '../../core/failures.ts'
import { didYouMean } from '../../core/suggest.ts'
import { type ExtensionsInForce, extensionsInForce } from '../../wiring/extensions-in-force.ts'

export default class ExtensionInstall extends BaseCommand {
  static override summary = 'Install extensions of DuckDB; by default those that the project needs'
  static override examples = [
    '<%= config.bin %> extension install',
    '<%= config.bin %> extension install spatial excel',
    '<%= config.bin %> extension install --from /media/extensions',
  ]
  static override strict = false
  static override usage = '[NAME...] [FLAGS]'
  static override flags = {
    from: Flags.string({
      summary: 'Install from this directory instead of the network',
    }),
  }

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(ExtensionInstall)
    const given = argv.map((name) => parseName(String(name)))
    const from = flags.from === undefined ? null : resolve(flags.from)
    const open = () => this.openProject(flags)
    const { directory, needed, dir, lock } = await extensionsInForce(open, flags.project)
    const names = given.length > 0 ? given : needed.map(({ name }) => name)
    const { installExtensions } = await import('../../duckdb/extensions.ts')
    const { hashOfExtension, lockKey, requireLocked } =
      await import('../../duckdb/extension-files.ts')
    const hashes: Record<string, string> = {}
    let installed = 0
    for await (const one of installExtensions({ directory, names }, from)) {
      const { name, isNew, version, path } = one
      const status = isNew ? 'installed' : 'present'
      if (isNew) installed += 1
      // One that the lock names is never replaced by another.
      if (lock?.[lockKey()]?.[name] !== undefined) await requireLocked(name, directory, lock)
      hashes[name] = (await hashOfExtension(path)) ?? ''
      if (flags.json) this.printEvent({ event: 'extension', name, status, version, path })
      else if (isNew || !flags.quiet)
        this.print(
          `${status.padEnd(9)}  ${name.padEnd(16)}  ${(version ?? '').padEnd(10)}  ${path}`,
        )
    }
    const isLocked =
      dir !== null && (await lockExtensions(dir, lock, lockKey(), { needed, hashes }))
    if (isLocked && !flags.json && !flags.quiet) this.print('wrote      eider.lock')
    if (flags.json) this.printEvent({ event: 'extensions-finished', installed })
    else if (names.length === 0 && !flags.quiet)
      this.print('the project needs no extensions; name one to install it')
  }
}

/** Those that the project needs; others are not its own. */
async function lockExtensions(
  dir: string,
  lock: ExtensionLock | null,
  key: string,
  found: Pick<ExtensionsInForce, 'needed'> & { readonly hashes: Readonly<Record<string, string>> },
): Promise<boolean> {
  const { writeExtensionLock } = await import('../../project/extension-lock.ts')
  const own = new Set(withRequired(found.needed.map(({ name }) => name)))
  const hashes = Object.entries(found.hashes).filter(([name]) => own.has(name))
  return hashes.length > 0 && writeExtensionLock(dir, lock, key, Object.fromEntries(hashes))
}

function parseName(text: string): string {
  const name = extensionNamed(text)
  if (name !== null) return name
  const problem = builtInExtensions.has(text)
    ? `${text} is built into DuckDB`
    : `DuckDB's own repository has no extension "${text}"`
  const hint = builtInExtensions.has(text)
    ? 'there is nothing to install'
    : (didYouMean(text, extensionNames) ?? `it has ${extensionNames.join(', ')}`)
  throw new UsageError(problem, { hint })
}
