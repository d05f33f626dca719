import * as Flags from '@oclif/core/flags'
import { BaseCommand, type FlagsOf } from '../../cli/base-command.ts'
import {
  acceptedModels,
  acceptFlag,
  againstFlag,
  keepsHistory,
  rangeFlags,
  rangeOf,
  selectionFlags,
  selectionOf,
  variableFlags,
  waitFlag,
} from '../../cli/shared-flags.ts'
import { giveWay } from '../../files/priority.ts'
import { isLive } from '../../cli/paint.ts'
import { duration } from '../../cli/run-lines.ts'
import { count } from '../../core/counts.ts'
import { showDiagnostic } from '../../cli/show-diagnostic.ts'
import { showFailedModel } from '../../cli/show-failed-model.ts'
import { RunDisplay } from '../../cli/show-run.ts'
import { showProfile } from '../../cli/show-profile.ts'
import { onStop, type StopRequest } from '../../cli/signals.ts'
import { UsageError } from '../../core/failures.ts'
import { type Diagnostic, DiagnosticsError } from '../../core/diagnostics.ts'
import { mistakesOf } from '../../compiler/mistakes.ts'
import { limits } from '../../core/limits.ts'
import type { CompiledProject } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import type { ContractChange } from '../../core/report/planned-changes.ts'
import type { Phase, RunEvent, Share, RunSummary } from '../../core/report/progress.ts'
import type { EngineUse } from '../../core/report/run-profile.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import type { LineageOfRun } from '../../exchange/lineage/open-lineage.ts'
import { HOW_TO_FINISH, unfinishedErasures, unfinishedText } from '../../pipeline/erase/record.ts'
import { clientsOf } from '../../wiring/clients.ts'
import { borrowingOf } from '../../wiring/lender.ts'
import { lineageOf } from '../../wiring/lineage.ts'
import { readManifest } from '../../wiring/read-manifest.ts'
import { runOptionsOf } from '../../wiring/run-options.ts'
import { ProfiledRun } from '../../report/profiled-run.ts'
import { type OpenTrace, openTrace, traced } from '../../report/trace/open-trace.ts'
import { hasWaitingEvents, openIdle } from '../../wiring/unchanged.ts'

type RunFlags = FlagsOf<typeof PipelineRun>

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
    ...againstFlag,
    ...variableFlags,
    from: Flags.string({
      summary: 'Read models that are not selected from the published state of this target',
      helpValue: 'TARGET',
    }),
    sample: Flags.string({
      summary: 'Read only this share of source tables and of what --from reads, such as 10%',
      helpValue: 'PERCENT',
    }),
    'sample-by': Flags.string({
      summary: 'Sample by the values of this column, in tables that have it',
      helpValue: 'COLUMN',
      dependsOn: ['sample'],
    }),
    retry: Flags.boolean({ summary: 'Build only what failed or was skipped in the last run' }),
    'fail-fast': Flags.boolean({ summary: 'Do not start another model after a failure' }),
    threads: Flags.integer({
      summary: 'Number of models to build in parallel; by default 4, at most one per core',
      min: 1,
      max: limits.modelsAtOnce,
    }),
    'full-refresh': Flags.boolean({
      summary: 'Rebuild every model from scratch; tables of events are kept',
    }),
    'drop-history': Flags.boolean({
      summary:
        'Allow a --full-refresh of all models to drop the history of append, merge, period, scd2',
      dependsOn: ['full-refresh'],
    }),
    'forward-only': Flags.boolean({
      summary: 'Keep rows that older rules of the named models have made, and warn no more of them',
      exclusive: ['full-refresh', 'start', 'watch', 'retry'],
    }),
    'allow-empty': Flags.boolean({
      summary: 'Allow an empty SELECT to empty its mirror, and empty sets to replace full ones',
    }),
    'allow-removal': Flags.boolean({
      summary: 'Allow @keep to remove more than half of the rows of a table',
    }),
    accept: acceptFlag(
      'Publish these models, or all, though their clients would break; --watch accepts all',
    ),
    profile: Flags.boolean({ summary: 'Show where the time went, model by model' }),
    ...rangeFlags,
    wait: waitFlag('Seconds to wait for another run to end'),
    watch: Flags.boolean({
      summary: 'Keep going: run again when a model, seed, macro or eider.yml is saved',
      exclusive: ['retry', 'full-refresh', 'start'],
    }),
  }

  /** Where relative paths of flags begin; opening a project goes elsewhere. */
  readonly #typedIn = process.cwd()

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(PipelineRun)
    giveWay()
    using stop = onStop()
    if (flags.watch)
      return await this.watch(
        flags,
        stop,
        async () => void (await this.#runOnce(flags, argv, stop)),
      )
    const summary = await this.#runOnce(flags, argv, stop)
    this.exit(stop.exitCode() ?? (summary.ok ? 0 : 1))
  }

  async #runOnce(
    flags: RunFlags,
    argv: readonly unknown[],
    stop: StopRequest,
  ): Promise<RunSummary> {
    const startedMs = performance.now()
    const against = await readManifest(flags.against, this.#typedIn)
    const project = await this.openProject(flags)
    const { files, paths } = project
    const selection = { ...selectionOf(argv, flags), retry: flags.retry, against }
    const isSelected = selection.include.length + selection.exclude.length > 0 || flags.retry
    requireNames(flags, isSelected)
    const options = runOptionsOf(project)
    const engine = { ...options, lockWaitMs: flags.wait * 1000, signal: stop.signal }
    const notes = isPlain(flags) ? await openIdle(project) : null
    const [{ prepareRun }, { checkSelection, knownModels }] = await Promise.all([
      import('../../pipeline/prepared-run.ts'),
      import('../../compiler/select.ts'),
    ])
    await using prepared = await prepareRun({ files, paths, engine, notes })
    const known = knownModels(prepared.project)
    checkSelection(known, selection)
    const accepted = flags.watch ? null : acceptedModels(flags.accept, known.keys())
    const borrowing = await borrowingOf(flags, project, isSelected, (target) =>
      this.openProject({ ...flags, target }),
    )
    this.printWarnings(prepared.project.warnings)
    for (const erasure of await unfinishedErasures(paths))
      process.stderr.write(`warning: ${unfinishedText(erasure)}\nhint: ${HOW_TO_FINISH}\n`)
    const { version } = this.config
    const profile = flags.profile ? new ProfiledRun(startedMs) : null
    const trace = openTrace(process.env, startedMs, { version, target: flags.target ?? null })
    using display = flags.json ? null : this.#display(flags, known.keys(), stop)
    const logger = this.loggerFor(
      flags,
      display === null ? undefined : (text) => display.note(text),
    )
    const compiledIn = duration(performance.now() - startedMs)
    display?.detail(`compiled   ${count(known.size, 'model')}, ${compiledIn}`)
    const lineage = await lineageOf(project, prepared.project, process.env, version)
    const watchers = { display, trace, profile, lineage }
    const followers = [trace, lineage].filter((one) => one !== null)
    const { summary, sent } = await traced(followers, logger, () =>
      prepared.run({
        ...this.#listeners(watchers),
        ...borrowing,
        modelsAtOnce: flags.threads ?? options.modelsAtOnce,
        retention: options.retention,
        failingRows: options.failingRows,
        startedMs,
        ...askedBy(flags),
        selection,
        keepHistory: keepsHistory(selection, flags),
        contractChanges,
        clients: clientsOf(accepted, project.readers.tokens),
        logger,
        openClaims: async () =>
          (await import('../../wiring/claims.ts')).openClaims(project, logger),
        hasWaitingEvents: () => hasWaitingEvents(paths),
        needsEngine: trace !== null,
      }),
    )
    const isAll = selection.include.length + selection.exclude.length === 0
    const compiled = prepared.project
    this.#report({ summary, compiled, flags, isAll, stop }, watchers)
    await sent
    return summary
  }

  #listeners({ display, trace, profile, lineage }: Watchers) {
    return {
      progress: (event: RunEvent) => {
        trace?.note(event)
        lineage?.note(event)
        profile?.note(event)
        if (event.event === 'run-finished' && profile !== null && display === null)
          this.printEvent({ event: 'run-profile', ...profile.profile() })
        if (display === null) this.printEvent(event)
        else display.progress(event)
      },
      onPhase: (phase: Phase) => {
        if (phase.phase !== 'publish') trace?.notePhase(phase)
        profile?.notePhase(phase)
      },
      onUse: profile === null ? undefined : (use: EngineUse) => profile.noteUse(use),
      onShare: (share: Share) => display?.share(share),
    }
  }

  #report(ended: Ended, { display, profile }: Watchers): void {
    const { summary, compiled, flags, isAll, stop } = ended
    const chosen = summary.models.map(({ model }) => model)
    const mistakes = mistakesOf(compiled, chosen)
    if (display !== null) this.#finish(display, ended, mistakes)
    else if (mistakes.length > 0) this.showFailure(new DiagnosticsError(mistakes), flags)
    if (display !== null && profile !== null) this.print(`\n${showProfile(profile.profile())}`)
    const isIdle = flags.retry && summary.models.length === 0
    if (!isIdle || flags.quiet || stop.signal.aborted) return
    const left = isAll ? 'no model' : 'none of the selected models'
    process.stderr.write(
      `nothing to retry: the last run that ended left ${left} failed or skipped\n`,
    )
  }

  #display(flags: RunFlags, names: Iterable<ModelName>, { signal }: StopRequest): RunDisplay {
    const { quiet, verbose } = flags
    const { stdout: results, stderr: notes } = process
    const look = this.lookOf(results)
    const isDrawn = !quiet && isLive(notes)
    return new RunDisplay({ results, notes, look, isDrawn, quiet, verbose, signal, names })
  }

  /** Failures once more, with their places: those of the compile as it found them, then those of the run. */
  #finish(
    display: RunDisplay,
    { summary, compiled, flags, stop }: Ended,
    mistakes: readonly Diagnostic[],
  ): void {
    const { models, failed } = compiled
    const look = this.lookOf(process.stderr)
    const sources = new Map(Array.from(models.values(), ({ source }) => [source.path, source]))
    const broken = summary.models.filter(
      ({ model, status }) => status === 'failed' && !failed.has(model),
    )
    const frames = [
      ...mistakes.map((mistake) => showDiagnostic(mistake, look)),
      ...broken.map((result) => showFailedModel(result, sources, look)),
    ]
    const isLeft = summary.models.some(({ status }) => status === 'failed' || status === 'skipped')
    const isRetryable = isLeft && !flags.watch && !stop.signal.aborted
    const isBlank = models.size + failed.size === 0
    const next = isBlank ? 'a model is a SELECT in a file models/<schema>/<name>.sql' : null
    display.finish(summary, frames, isRetryable ? retryOf(flags) : next)
  }
}

async function contractChanges(
  before: Snapshot,
  { relations }: Snapshot,
): Promise<readonly ContractChange[]> {
  const { contractChanges: compare } = await import('../../odata/edm/contract.ts')
  return compare(
    before,
    relations.map((relation) => ({ ...relation, perhapsNullable: [] })),
  )
}

const askedBy = (flags: RunFlags) => ({
  fullRefresh: flags['full-refresh'],
  forwardOnly: flags['forward-only'],
  failFast: flags['fail-fast'],
  allowEmpty: flags['allow-empty'],
  allowRemoval: flags['allow-removal'],
  range: rangeOf(flags),
  by: flags.by ?? null,
})

/** Nobody means that for all models at once. */
function requireNames(flags: RunFlags, isSelected: boolean): void {
  if (!flags['forward-only'] || isSelected) return
  throw new UsageError(
    '--forward-only needs the names of the models whose older rows are to stay',
    {
      hint: 'such as eider run mart.sales --forward-only; eider plan shows which models have some',
    },
  )
}

/** Whether the run is one that may find nothing to do, and is not asked how long it takes. */
const isPlain = (flags: RunFlags): boolean =>
  rangeOf(flags) === null &&
  !flags.retry &&
  flags.against === undefined &&
  !flags['full-refresh'] &&
  !flags['forward-only'] &&
  !flags.profile &&
  flags.from === undefined &&
  flags.sample === undefined

interface Watchers {
  readonly display: RunDisplay | null
  readonly trace: OpenTrace | null
  readonly profile: ProfiledRun | null
  readonly lineage: LineageOfRun | null
}

interface Ended {
  readonly summary: RunSummary
  /** No model was selected by name. */
  readonly isAll: boolean
  readonly compiled: CompiledProject
  readonly flags: RunFlags
  readonly stop: StopRequest
}

const retryOf = ({ project, target }: RunFlags): string =>
  [
    'eider run --retry',
    ...(project === undefined ? [] : [`--project ${project}`]),
    ...(target === undefined ? [] : [`--target ${target}`]),
  ].join(' ')
