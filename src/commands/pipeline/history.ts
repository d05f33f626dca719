import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.ts'
import { showRows } from '../../cli/table.ts'
import type { CompiledProject } from '../../core/model.ts'
import type { Project } from '../../project/project.ts'
import { openToRead } from '../../wiring/reading.ts'

export default class PipelineHistory extends BaseCommand {
  static override summary = 'List the last runs, or what they did to one model; newest first'
  static override examples = ['<%= config.bin %> history', '<%= config.bin %> history mart.sales']
  static override args = {
    model: Args.string({ ignoreStdin: true, description: 'Name of a model' }),
  }
  static override flags = {
    limit: Flags.integer({ summary: 'Rows to show', min: 1, default: 20 }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(PipelineHistory)
    const project = await this.openProject(flags)
    const rows = await recordedRows(project, args.model, flags.limit)
    if (flags.json) {
      const event = args.model === undefined ? 'run' : 'model-run'
      for (const row of rows) this.printEvent({ event, ...row })
      this.printEvent({ event: 'history-finished', runs: rows.length })
    } else if (rows.length === 0) this.print('no run is recorded')
    else this.print(showRows(Object.keys(rows[0]!), rows, 'table'))
  }
}

async function recordedRows(
  project: Project,
  model: string | undefined,
  limit: number,
): Promise<readonly object[]> {
  const { modelHistory, runHistory } = await import('../../pipeline/history.ts')
  await using reading = await openToRead(project, { orLastState: true })
  if (model === undefined) return await runHistory(reading, limit)
  return await historyOf(model, reading.project, (name) => modelHistory(reading, name, limit))
}

/** A model that is gone from the project still has its history. Throws UsageError for a name that was never used. */
async function historyOf<T>(
  asked: string,
  project: CompiledProject,
  read: (name: string) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const rows = await read(asked)
  if (rows.length > 0) return rows
  const { findModel } = await import('../../compiler/select.ts')
  return read(findModel(project, asked).name)
}
