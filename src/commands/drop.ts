import { BaseCommand } from '../cli/base-command.ts'
import { argument } from '../cli/shared-flags.ts'
import { sizeOf } from '../cli/run-lines.ts'
import { onStop } from '../cli/signals.ts'
import { UsageError } from '../core/failures.ts'
import { sameName, targetsOf } from '../core/names.ts'
import { changeWarehouse, refuseReserved } from '../wiring/change-warehouse.ts'

export default class Drop extends BaseCommand {
  static override summary = 'Drop a table or view whose model is gone from the project'
  static override examples = ['<%= config.bin %> drop core.orders']
  static override args = {
    name: argument('Name of the model whose file is gone'),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Drop)
    using stop = onStop()
    const project = await this.openProject(flags)
    await refuseReserved(project, args.name)
    const { models, seeds, unreadable = [] } = project.files
    const files = [
      ...[...models, ...unreadable].map(({ name, source }) => ({ name, ...source })),
      ...seeds,
    ]
    const file = files.find(({ name }) => sameName(name, args.name))
    if (file !== undefined)
      throw new UsageError(`${file.name} is defined by ${file.path}`, {
        hint: 'delete the file first',
      })
    const { dropRelation } = await import('../pipeline/orphans.ts')
    const dropped = await changeWarehouse(project, stop, (opened) =>
      dropRelation(opened, args.name),
    )
    const { model, kind, rows } = dropped
    const { waitingBytes } = await import('../buffer/waiting.ts')
    const waiting = await waitingBytes(project.paths.buffer)
    const bytes = targetsOf(model, waiting.keys()).reduce((sum, one) => sum + waiting.get(one)!, 0)
    if (flags.json) this.printEvent({ event: 'dropped', ...dropped, waiting_bytes: bytes })
    else this.print(`dropped ${model} (${kind}, ${sizeOf(rows)})`)
    if (bytes > 0)
      process.stderr.write(
        `events sent to ${model} still wait in the buffer (${bytes} bytes); a model of kind events with that name takes them\n`,
      )
  }
}
