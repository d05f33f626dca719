import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.ts'
import { showExplained } from '../cli/show-profile.ts'
import { argument, variableFlags } from '../cli/shared-flags.ts'

export default class Explain extends BaseCommand {
  static override summary = 'Show the query plan of a model; changes nothing'
  static override examples = [
    '<%= config.bin %> explain mart.sales',
    '<%= config.bin %> explain mart.sales --analyze',
  ]
  static override flags = {
    ...variableFlags,
    analyze: Flags.boolean({
      summary: 'Run the SELECT, and show the rows and the time of each operator, memory and spill',
    }),
  }
  static override args = {
    model: argument('Name of a model'),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Explain)
    const project = await this.openProject(flags)
    const { openToRead } = await import('../wiring/reading.ts')
    const { findModel } = await import('../compiler/select.ts')
    const { unfollowedIn } = await import('../pipeline/changes/unfollowed.ts')
    const { keptTableText } = await import('../pipeline/changes/kept-tables.ts')
    const { explainModel } = await import('../pipeline/explain-model.ts')
    await using reading = await openToRead(project)
    const model = findModel(reading.project, args.model)
    const { dir } = project.paths
    const explained = await explainModel(reading.connection, model, { dir, analyze: flags.analyze })
    const notes = [
      ...unfollowedIn(reading.project, model),
      ...keptTableText(reading.project, model),
    ]
    if (flags.json)
      this.printEvent({ event: 'model-explained', model: model.name, ...explained, notes })
    else this.print([showExplained(explained), ...notes].join('\n\n'))
  }
}
