import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.ts'
import { argument } from '../cli/shared-flags.ts'
import { sizeOf } from '../cli/run-lines.ts'
import { onStop } from '../cli/signals.ts'
import { DiagnosticsError } from '../core/diagnostics.ts'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import type { Model } from '../core/model.ts'
import { sameName } from '../core/names.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Adoption } from '../pipeline/adopt/adopt-table.ts'
import type { Project } from '../project/project.ts'
import { changeWarehouse, refuseReserved } from '../wiring/change-warehouse.ts'
import { runOptionsOf } from '../wiring/run-options.ts'

export default class Adopt extends BaseCommand {
  static override summary = 'Let a model continue a table that another tool has made'
  static override description =
    'The table has the name of the model, its columns and its key, or it is a snapshot of dbt for a model of kind scd2. The next run continues its rows.'
  static override examples = [
    '<%= config.bin %> adopt core.orders --dry-run',
    '<%= config.bin %> adopt core.orders',
  ]
  static override args = {
    model: argument('A model of kind append, merge, period or scd2'),
  }
  static override flags = {
    'dry-run': Flags.boolean({ summary: 'Compare the table with the model; change nothing' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Adopt)
    using stop = onStop()
    const project = await this.openProject(flags)
    await refuseReserved(project, args.model)
    const model = await compiledModel(project, args.model)
    const isDry = Boolean(flags['dry-run'])
    const { adoptTable } = await import('../pipeline/adopt/adopt-table.ts')
    const { rows, changes } = isDry
      ? await onlyPlanned(project, model)
      : await changeWarehouse(project, stop, (opened) => adoptTable(opened, model))
    const { name, kind } = model
    if (flags.json)
      return this.printEvent({ event: 'adopted', model: name, kind, rows, changes, dry_run: isDry })
    this.print(`${isDry ? 'would adopt' : 'adopted'} ${name} (${kind}, ${sizeOf(rows)})`)
    for (const change of changes) this.print(`  ${change}`)
  }
}

async function compiledModel(project: Project, name: string): Promise<Model> {
  const { compileAll } = await import('../compiler/compile.ts')
  const { mistakesOf } = await import('../compiler/mistakes.ts')
  const compiled = await compileAll(project.files, { dir: project.paths.dir })
  const model = [...compiled.models.values()].find((one) => sameName(one.name, name))
  if (model !== undefined) return model
  const failed = [...compiled.failed.values()].find((one) => sameName(one.name, name))
  if (failed !== undefined) throw new DiagnosticsError(mistakesOf(compiled, [failed.name]))
  const names = [...compiled.models.keys()]
  throw new UsageError(`the project has no model "${name}"`, {
    hint: didYouMean(name, names) ?? 'write the model first; the table has its name',
  })
}

async function onlyPlanned(project: Project, model: Model): Promise<Adoption> {
  const { openStore } = await import('../store/open.ts')
  const { planAdoption } = await import('../pipeline/adopt/adopt-table.ts')
  const store = openStore(project.paths)
  if (!(await store.warehouse.exists()))
    throw new EnvironmentError('warehouse-missing', 'there is no warehouse yet', {
      hint: 'put the file of the other tool in its place',
    })
  await using warehouse = await store.warehouse.openToRead(runOptionsOf(project))
  await using connection = await warehouse.connect()
  const known = await store.state.read(connection, [model.name])
  return await planAdoption(connection, known, model)
}
