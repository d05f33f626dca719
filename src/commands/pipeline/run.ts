import * as Flags from '@oclif/core/flags'
import type { Interfaces } from '@oclif/core'
import { BaseCommand } from '../../cli/base-command.ts'
import {
  keepsHistory,
  rangeFlags,
  rangeOf,
  selectionFlags,
  selectionOf,
} from '../../cli/selection.ts'
import { giveWay } from '../../cli/priority.ts'
import { variableFlags } from '../../cli/variable-flags.ts'
import { drawProgress, showSummary } from '../../cli/show-run.ts'
import { onStop, type StopRequest } from '../../cli/signals.ts'
import { DiagnosticsError } from '../../core/diagnostics.ts'
import { limits } from '../../core/limits.ts'
import type { RunSummary } from '../../pipeline/results.ts'
import { runOptionsOf } from '../run-options.ts'

type RunFlags = Interfaces.InferredFlags<typeof PipelineRun.flags & typeof BaseCommand.baseFlags>

export default class PipelineRun extends BaseCommand {
  static override summary = 'Flush events, build the models, publish the snapshot'
  static override examples = [
    '<%= config.bin %> run',
    '<%= config.bin %> run +mart.sales',
    '<%= config.bin %> run --wait 300 --json',
  ]
  static override strict = false
  static override usage = '[SELECTOR...] [FLAGS]'
  static override flags = {
    ...selectionFlags,
    ...variableFlags,
    retry: Flags.boolean({ summary: 'Only what failed or was skipped in the last run' }),
    'fail-fast': Flags.boolean({ summary: 'Start no further model after a failure' }),
    threads: Flags.integer({
      summary: 'Models that are built at a time; 4 by default, or as many as there are cores',
      min: 1,
      max: limits.modelsAtOnce,
    }),
    'full-refresh': Flags.boolean({
      summary: 'Rebuild every model from nothing; tables of events are kept',
    }),
    'drop-history': Flags.boolean({
      summary: 'Let --full-refresh without a selector end the history of append, merge and scd2',
      dependsOn: ['full-refresh'],
    }),
    'allow-empty': Flags.boolean({
      summary: 'Let an empty SELECT empty its mirror, and the run publish nothing over something',
    }),
    ...rangeFlags,
    wait: Flags.integer({
      summary: 'Seconds to wait for another run to end',
      min: 0,
      max: 86_400,
      default: limits.runLockWaitMs / 1000,
    }),
    watch: Flags.boolean({
      summary: 'Go on, and run again whenever a model, a seed, a macro or eider.yml is saved',
      exclusive: ['retry', 'full-refresh', 'start'],
    }),
  }

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(PipelineRun)
    giveWay()
    using stop = onStop()
    if (flags.watch) return await this.#watch(flags, argv, stop)
    const summary = await this.#runOnce(flags, argv, stop)
    this.exit(stop.exitCode() ?? (summary.ok ? 0 : 1))
  }

  /** Until it is told to stop, which is its proper end. */
  async #watch(flags: RunFlags, argv: readonly unknown[], stop: StopRequest): Promise<void> {
    const { paths } = await this.openProject(flags)
    const { ProjectWatch } = await import('../../project/watch.ts')
    await using watch = await ProjectWatch.open(paths.dir)
    const run = async () => {
      try {
        await this.#runOnce(flags, argv, stop)
      } catch (error) {
        this.showFailure(error, flags)
      }
      if (!flags.quiet && !stop.signal.aborted)
        process.stderr.write('waiting for changes; Ctrl-C ends\n')
    }
    await run()
    watch.onChange(run)
    await stop.asked
  }

  async #runOnce(
    flags: RunFlags,
    argv: readonly unknown[],
    stop: StopRequest,
  ): Promise<RunSummary> {
    const logger = this.loggerFor(flags)
    const project = await this.openProject(flags)
    const { compileOnce } = await import('../../compiler/compile-once.ts')
    const { paths } = project
    const { dir, state } = paths
    // Much of a compile is the engine's, which leaves time to load the rest of the code.
    const [compiled, { checkSelection, knownModels }, { runPipeline }, { openStore }] =
      await Promise.all([
        compileOnce(project.files, { dir, state, save: true }),
        import('../../compiler/select.ts'),
        import('../../pipeline/run.ts'),
        import('../../store/open-store.ts'),
      ])
    const selection = { ...selectionOf(argv, flags), retry: flags.retry }
    checkSelection(knownModels(compiled), selection)
    this.printWarnings(compiled.warnings)
    const summary = await runPipeline({
      paths,
      store: openStore(paths),
      project: compiled,
      openClaims: async () => (await import('../claims.ts')).openClaims(project, logger),
      ...runOptionsOf(project),
      fullRefresh: flags['full-refresh'],
      selection,
      ...(flags.threads === undefined ? {} : { modelsAtOnce: flags.threads }),
      failFast: flags['fail-fast'],
      keepHistory: keepsHistory(selection, flags),
      allowEmpty: flags['allow-empty'],
      range: rangeOf(flags),
      lockWaitMs: flags.wait * 1000,
      signal: stop.signal,
      progress: flags.json ? (event) => this.printEvent(event) : drawProgress(process.stderr),
      logger,
    })
    if (!flags.json) this.print(showSummary(summary, this.paintFor(flags), flags))
    const { mistakesOf } = await import('../../compiler/mistakes.ts')
    const chosen = summary.models.map(({ model }) => model)
    const mistakes = mistakesOf(compiled, chosen)
    if (mistakes.length > 0) this.showFailure(new DiagnosticsError(mistakes), flags)
    const isIdle = flags.retry && summary.models.length === 0
    if (isIdle && !flags.quiet && !stop.signal.aborted) {
      const isAll = selection.include.length + selection.exclude.length === 0
      const left = isAll ? 'no model' : 'none of the selected models'
      process.stderr.write(
        `nothing to retry: the last run that ended left ${left} failed or skipped\n`,
      )
    }
    return summary
  }
}
