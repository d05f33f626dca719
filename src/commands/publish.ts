import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.ts'
import { waitFlag } from '../cli/shared-flags.ts'
import { onStop } from '../cli/signals.ts'
import { count } from '../core/counts.ts'
import { DiagnosticsError } from '../core/diagnostics.ts'
import { UsageError } from '../core/failures.ts'
import type { CompiledProject } from '../core/model.ts'
import { type ModelName, sameName } from '../core/names.ts'
import { changeWarehouse } from '../wiring/change-warehouse.ts'
import { clientsOf } from '../wiring/clients.ts'
import { runOptionsOf } from '../wiring/run-options.ts'

export default class Publish extends BaseCommand {
  static override summary = 'Publish tables as they are, after a change by hand; builds nothing'
  static override description =
    'The next run builds again what reads them. Histories go on: no row of the tables is touched.'
  static override examples = [
    '<%= config.bin %> publish core.orders',
    '<%= config.bin %> publish --all',
  ]
  static override strict = false
  static override usage = '[NAME...] [FLAGS]'
  static override flags = {
    all: Flags.boolean({ summary: 'Every table that a run has built' }),
    wait: waitFlag('Seconds to wait for a run to end'),
  }

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(Publish)
    const asked = argv.map(String)
    const isAll = flags.all === true
    if (isAll === asked.length > 0)
      throw new UsageError(
        isAll ? '--all and names exclude each other' : 'name the models whose tables changed',
        { hint: 'such as eider publish core.orders; --all publishes every table' },
      )
    using stop = onStop()
    const startedMs = performance.now()
    const project = await this.openProject(flags)
    const { compileOnce } = await import('../compiler/compile-once.ts')
    const { republish } = await import('../pipeline/republish.ts')
    const compiled = await compileOnce(project.files, { ...project.paths, save: false })
    if (compiled.errors.length > 0) throw new DiagnosticsError(compiled.errors)
    const names = isAll ? null : namesIn(compiled, asked)
    const options = { waitMs: flags.wait * 1000, signal: stop.signal }
    const { retention } = runOptionsOf(project)
    const logger = this.loggerFor(flags)
    const { models, snapshot, changed } = await changeWarehouse(project, options, (opened) =>
      republish({
        opened,
        project: compiled,
        names,
        retention,
        logger,
        clients: clientsOf(new Set(), project.readers.tokens),
      }),
    )
    const ms = performance.now() - startedMs
    if (flags.json)
      this.printEvent({ event: 'republished', models, snapshot: snapshot.id, changed, ms })
    else {
      for (const name of models) this.print(`published  ${name}`)
      const state = changed ? `published ${snapshot.id}` : 'no set has changed'
      this.print(`${count(models.length, 'table')}, ${state}; the next run builds what reads them`)
    }
  }
}

function namesIn({ models }: CompiledProject, asked: readonly string[]): readonly ModelName[] {
  return asked.map((name) => {
    const found = [...models.keys()].find((known) => sameName(known, name))
    if (found !== undefined) return found
    throw new UsageError(`the project has no model ${name}`, {
      hint: '"eider ls" lists the models',
    })
  })
}
