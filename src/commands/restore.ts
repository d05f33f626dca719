import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.ts'
import { argument, waitFlag } from '../cli/shared-flags.ts'
import { onStop } from '../cli/signals.ts'
import { count } from '../core/counts.ts'
import { DiagnosticsError } from '../core/diagnostics.ts'
import { UsageError } from '../core/failures.ts'
import { changeWarehouse } from '../wiring/change-warehouse.ts'
import { clientsOf } from '../wiring/clients.ts'
import { runOptionsOf } from '../wiring/run-options.ts'

export default class Restore extends BaseCommand {
  static override summary = 'Give a table the rows that an earlier published state has of it'
  static override description =
    'Without --yes it says what would change. The table is published at once; the next run builds what reads it, and continues from these rows.'
  static override examples = [
    '<%= config.bin %> restore core.orders --at 2026-11-01',
    '<%= config.bin %> restore core.orders --at 2026-11-01 --yes',
  ]
  static override args = {
    model: argument('An exposed model that is a table'),
  }
  static override flags = {
    at: Flags.string({
      summary: 'What was published then: a date, a date with time, or the id of a run',
      helpValue: 'WHEN',
      required: true,
    }),
    yes: Flags.boolean({ summary: 'Do it; without this flag nothing is changed' }),
    wait: waitFlag('Seconds to wait for a run to end'),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Restore)
    using stop = onStop()
    const startedMs = performance.now()
    const project = await this.openProject(flags)
    const { compileOnce } = await import('../compiler/compile-once.ts')
    const { findModel } = await import('../compiler/select.ts')
    const { openStore } = await import('../store/open.ts')
    const { findPastState, stateText } = await import('../report/past-state.ts')
    const { NEXT_RUN, restoreTable } = await import('../pipeline/restore.ts')
    const compiled = await compileOnce(project.files, { ...project.paths, save: false })
    if (compiled.errors.length > 0) throw new DiagnosticsError(compiled.errors)
    const model = findModel(compiled, args.model)
    const { paths } = project
    const { retention, memoryLimit, extensions } = runOptionsOf(project)
    const engine = { memoryLimit, extensions }
    const asked = { paths, engine, at: flags.at, now: new Date() }
    const state = await findPastState({ ...asked, store: openStore(paths) })
    const dryRun = flags.yes !== true
    const options = { waitMs: flags.wait * 1000, signal: stop.signal }
    const logger = this.loggerFor(flags)
    const of = stateText(state)
    const request = {
      paths,
      project: compiled,
      model,
      state,
      stateText: of,
      dryRun,
      retention,
      logger,
      clients: clientsOf(new Set(), project.readers.tokens),
    }
    const restored = await changeWarehouse(project, options, (opened) =>
      restoreTable({ ...request, opened }),
    )
    const { rowsIn, rowsOut, rowsAfter, published } = restored
    const isSame = rowsIn + rowsOut === 0
    const ms = performance.now() - startedMs
    if (flags.json)
      this.printEvent({
        event: 'restored',
        model: model.name,
        run_id: state.runId,
        published_at: state.publishedAt.toISOString(),
        dry_run: dryRun,
        rows_in: rowsIn,
        rows_out: rowsOut,
        rows_after: rowsAfter,
        snapshot: published?.snapshot.id ?? null,
        next_run: NEXT_RUN[model.kind],
        ms,
      })
    else {
      const rows = `${count(rowsIn, 'row')} in, ${rowsOut} out, ${rowsAfter} afterwards`
      const verb = dryRun ? 'would restore' : 'restored'
      this.print(isSame ? `${model.name} is as it was then` : `${verb}  ${model.name}  ${rows}`)
      this.print(
        `state of ${of}${published === null ? '' : `; published ${published.snapshot.id}`}`,
      )
      if (!isSame) this.print(NEXT_RUN[model.kind])
    }
    if (dryRun && !isSame)
      throw new UsageError('nothing was changed', { hint: 'add --yes to restore the table' })
  }
}
