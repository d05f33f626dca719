import { resolve } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.ts'
import { writeOut, wroteLine } from '../cli/write-out.ts'
import { selectionFlags, selectionOf, variableFlags } from '../cli/shared-flags.ts'
import { DiagnosticsError } from '../core/diagnostics.ts'
import { hostAndPort } from '../core/host-text.ts'
import { UsageError } from '../core/failures.ts'
import type { ExposedModel } from '../exchange/format.ts'

/** All addresses of a machine are none that a client could ask. */
const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

export default class Export extends BaseCommand {
  static override summary =
    'Write the exposed sets in a format of other tools, such as a data contract'
  static override examples = [
    '<%= config.bin %> export odcs --out shop.odcs.yaml',
    '<%= config.bin %> export odcs mart.sales --url https://data.shop.example/odata',
    '<%= config.bin %> export ossie --out shop.ossie.yaml',
  ]
  static override strict = false
  static override usage = 'FORMAT [SELECTOR...] [FLAGS]'
  static override flags = {
    ...selectionFlags,
    ...variableFlags,
    url: Flags.string({ summary: 'Root of the service; by default that of the settings' }),
    'contract-version': Flags.string({
      summary: 'Version of a data contract, as its readers count it; by default 1.0.0',
      helpValue: 'VERSION',
    }),
    out: Flags.string({ summary: 'The file; by default it is printed' }),
  }

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(Export)
    const out = flags.out === undefined ? null : resolve(flags.out)
    const { formatNamed, textOfFormat } = await import('../exchange/formats.ts')
    const [named, ...selectors] = argv.map(String)
    const format = formatNamed(named)
    const { 'contract-version': version } = flags
    if (format !== 'odcs' && version !== undefined)
      throw new UsageError(`--contract-version has no effect on ${format}`, {
        hint: 'leave it out; a data contract (odcs) has a version',
      })
    const { name: project, files, paths, settings } = await this.openProject(flags)
    const { compileOnce } = await import('../compiler/compile-once.ts')
    const { select } = await import('../compiler/select.ts')
    const compiled = await compileOnce(files, { ...paths, save: false })
    const chosen = select(compiled.models, selectionOf(selectors, flags), () => true)
    const models = [...compiled.models.values()].filter(
      (model): model is ExposedModel => chosen.has(model.name) && model.expose !== null,
    )
    if (compiled.errors.length > 0) throw new DiagnosticsError(compiled.errors)
    if (models.length === 0)
      throw new UsageError('none of these models is exposed', {
        hint: 'write -- @expose at the head of the models that others read',
      })
    const { 'odata.host': host, 'odata.port': port } = settings
    const url = flags.url ?? `http://${hostAndPort(reachable[host] ?? host, port)}/odata`
    const text = textOfFormat(format, { name: project, models, url, version })
    if (out === null)
      return flags.json
        ? this.printEvent({ event: 'export', format, text })
        : this.print(text.trimEnd())
    await writeOut(out, text)
    if (flags.json) this.printEvent({ event: 'export', format, path: out })
    else this.print(wroteLine(out))
  }
}
