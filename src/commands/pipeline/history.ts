import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.ts'
import { optionalArgument } from '../../cli/shared-flags.ts'
import { showTable } from '../../cli/table.ts'
import type { CompiledProject } from '../../core/model.ts'
import { entitySetName, sameName } from '../../core/names.ts'
import type { ModelRun } from '../../pipeline/history.ts'
import type { Project } from '../../project/project.ts'
import { openToRead } from '../../wiring/reading.ts'

export default class PipelineHistory extends BaseCommand {
  static override summary = 'List the last runs, or what they changed in one table; newest first'
  static override examples = ['<%= config.bin %> history', '<%= config.bin %> history mart.sales']
  static override args = {
    model: optionalArgument('Name of a model'),
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
    else if (args.model === undefined) this.print(showTable(Object.keys(rows[0]!), rows))
    else {
      const lines = (rows as readonly KeptModelRun[]).map(tableLine)
      this.print(showTable(Object.keys(lines[0]!), lines))
    }
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
  const runs = await historyOf(model, reading.project, (name) => modelHistory(reading, name, limit))
  // Of what is not exposed nothing was published.
  const { states } = isExposed(reading.project, model)
    ? await reading.store.past.list()
    : { states: [] }
  const idOf = (run: ModelRun) => states.findLast(({ runId }) => runId === run.run_id)?.id ?? null
  return runs.map((run): KeptModelRun => ({ ...run, state: idOf(run) }))
}

const isExposed = ({ models }: CompiledProject, asked: string): boolean =>
  [...models.values()].some(({ name, expose }) => {
    return expose !== null && (sameName(name, asked) || sameName(entitySetName(name), asked))
  })

interface KeptModelRun extends ModelRun {
  /** What the run published, where that can still be read with `--at`; null: nothing new, or it is gone. */
  readonly state: string | null
}

/** A rule is shown by the beginning of its hash: what counts is where it changes. */
function tableLine(run: KeptModelRun): Readonly<Record<string, string | number>> {
  return {
    run_id: run.run_id,
    started_at: run.started_at,
    status: run.status,
    way: run.way ?? '',
    in: run.rows_in ?? '',
    changed: run.rows_changed ?? '',
    out: run.rows_out ?? '',
    after: run.rows_after ?? '',
    rule: run.rule?.slice(0, RULE_DIGITS) ?? '',
    kept: run.state === null ? '' : 'yes',
    because: run.because,
  }
}

const RULE_DIGITS = 8

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
