import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BaseCommand } from '../cli/base-command.ts'
import { UsageError } from '../core/failures.ts'
import type { Model } from '../core/model.ts'

export default class Contract extends BaseCommand {
  static override summary = 'Write or accept the @contract lines of exposed models'
  static override examples = ['<%= config.bin %> contract mart.sales', '<%= config.bin %> contract']
  static override strict = false
  static override usage = '[MODEL...] [FLAGS]'

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(Contract)
    const { files, paths } = await this.openProject(flags)
    const { contractLines, neverNullBy, promisedColumns, withContract, withoutContract } =
      await import('../compiler/contract.ts')
    const { compileOnce } = await import('../compiler/compile-once.ts')
    const { findModel } = await import('../compiler/select.ts')
    const models = files.models.map(({ name, source }) => {
      return { name, source: { ...source, text: withoutContract(source.text) } }
    })
    const project = await compileOnce({ ...files, models }, { ...paths, save: false })
    const promising = files.models.filter(({ source: { text } }) => withoutContract(text) !== text)
    const names = argv.length === 0 ? promising.map(({ name }) => name) : argv.map(String)
    const found = names.map((name) => exposed(findModel(project, name)))
    for (const { model, key } of found) {
      const { name, kind, columns, checks } = model
      const { source } = files.models.find((file) => file.name === name)!
      const lines = contractLines(key, promisedColumns(kind, key, columns, neverNullBy(checks)))
      const text = withContract(source.text, lines)
      const changed = text !== source.text
      if (changed) await writeFile(join(paths.dir, source.path), text)
      const { path } = source
      if (flags.json)
        this.printEvent({ event: 'contract', model: name, path, changed, columns: columns.length })
      else this.print(`${changed ? 'wrote' : 'unchanged'}  ${path}`)
    }
    if (flags.json) this.printEvent({ event: 'contract-finished', models: found.length })
    else if (found.length === 0)
      this.print('no model has a contract; name the exposed models that get one')
  }
}

/** Throws UsageError for a model that cannot promise anything. */
function exposed(model: Model): { readonly model: Model; readonly key: readonly string[] } {
  const { name, source, expose } = model
  if (expose === null)
    throw new UsageError(`${name} is not exposed, so no client relies on it`, {
      hint: `write -- @expose at the head of ${source.path} first`,
    })
  return { model, key: expose.key }
}
