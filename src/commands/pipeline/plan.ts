import * as Flags from '@oclif/core/flags'
import { BaseCommand, type FlagsOf } from '../../cli/base-command.ts'
import {
  acceptedModels,
  acceptFlag,
  keepsHistory,
  rangeFlags,
  rangeOf,
  selectionFlags,
  selectionOf,
  variableFlags,
} from '../../cli/shared-flags.ts'
import { orphanLines } from '../../cli/run-lines.ts'
import { planCounts, showPlan } from '../../cli/show-plan.ts'
import { onStop } from '../../cli/signals.ts'
import { knownModels, type Selection } from '../../compiler/select.ts'
import { type Diagnostic, DiagnosticsError } from '../../core/diagnostics.ts'
import { EnvironmentError } from '../../core/failures.ts'
import type { CompiledProject } from '../../core/model.ts'
import { entitySetName, type ModelName } from '../../core/names.ts'
import type { ContractChange, ModelDiff, PlannedStep } from '../../core/report/planned-changes.ts'
import type { Manifest } from '../../pipeline/catalog/earlier-manifest.ts'
import type { Project } from '../../project/project.ts'
import { changeWarehouse } from '../../wiring/change-warehouse.ts'
import { clientsOf, tokensAmong } from '../../wiring/clients.ts'
import { readManifest } from '../../wiring/read-manifest.ts'
import { isHeld, openToRead } from '../../wiring/reading.ts'

const againstPlan = 'Compare with this manifest.json of another state; no warehouse is looked at'

export default class PipelinePlan extends BaseCommand {
  static override summary = 'Show what a run would do, and why; changes nothing'
  static override examples = [
    '<%= config.bin %> plan',
    '<%= config.bin %> plan --diff +mart.sales',
    '<%= config.bin %> plan state:modified+ --allow-breaking',
  ]
  static override strict = false
  static override usage = '[SELECTOR...] [FLAGS]'
  static override flags = {
    ...selectionFlags,
    ...variableFlags,
    against: Flags.string({
      summary: againstPlan,
      helpValue: 'FILE',
      exclusive: ['diff', 'full-refresh', 'allow-empty', 'allow-removal', 'start'],
    }),
    diff: Flags.boolean({
      summary: 'Build the models in memory and show which rows would change',
    }),
    'full-refresh': Flags.boolean({ summary: 'Plan a run with --full-refresh' }),
    'drop-history': Flags.boolean({ summary: 'Plan a run with --drop-history' }),
    'allow-empty': Flags.boolean({ summary: 'Plan a run with --allow-empty' }),
    'allow-removal': Flags.boolean({ summary: 'Plan a run with --allow-removal' }),
    ...rangeFlags,
    'allow-breaking': Flags.boolean({
      summary: 'Exit with 0 even if clients of the OData service may break',
    }),
    accept: acceptFlag('Let the next run publish what the plan says of these models, or of all', [
      'against',
    ]),
  }

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(PipelinePlan)
    const against = await readManifest(flags.against, process.cwd())
    const project = await this.openProject(flags)
    if (against !== undefined)
      return await this.#compare(flags, project, against, selectionOf(argv, flags))
    const { planned, compiled } = await this.#plan(flags, project, argv)
    const now = await this.#accept(flags, project, compiled, planned.contract)
    this.#finish(flags, { ...planned, accepted: [...planned.accepted, ...now] })
  }

  async #plan(flags: PlanFlags, project: Project, argv: readonly unknown[]) {
    const { planRun } = await import('../../pipeline/plan/show-changes.ts')
    const { findAccepted } = await import('../../pipeline/plan/accept.ts')
    await using reading = await openToRead(project, { orLastState: !readsRows(flags) }).catch(
      (error: unknown) => {
        throw readsRows(flags) ? withWayOn(error) : error
      },
    )
    const selection = selectionOf(argv, flags)
    this.printWarnings(reading.project.warnings)
    const { contractChanges, breakingShapes } = await import('../../odata/edm/contract.ts')
    const { isGuarded } = await import('../../pipeline/guard-clients.ts')
    const { withReaders } = await import('../../pipeline/read-by.ts')
    const { steps, published, next, orphans, refusal } = await planRun({
      ...reading,
      paths: project.paths,
      logger: this.loggerFor(flags),
      selection: { ...selection, retry: false },
      keepHistory: keepsHistory(selection, flags),
      fullRefresh: flags['full-refresh'],
      allowEmpty: flags['allow-empty'],
      allowRemoval: flags['allow-removal'],
      range: rangeOf(flags),
      by: flags.by ?? null,
      diff: flags.diff,
    })
    const contract = withReaders(
      contractChanges(published, next),
      reading.project,
      tokensAmong(project.readers.tokens),
      published,
      next,
    )
    const accepted = await findAccepted(reading.connection, published, contract)
    const { isLastState } = reading
    const width = Math.max(0, ...steps.map(({ model }) => model.name.length))
    const found = flags.json
      ? orphans.map(({ rows, ...orphan }) => {
          return JSON.stringify({ event: 'orphan', ...orphan, rows: isLastState ? null : rows })
        })
      : orphanLines(orphans, width, isLastState)
    const { errors, models } = reading.project
    const guarded = [...models.values()].filter(isGuarded).map(({ name }) => name)
    const stopping = { changes: breakingShapes(published, next), guarded }
    const planned = { steps, contract, errors, others: found, refusal, accepted, stopping }
    return { planned, compiled: reading.project }
  }

  /** Once the warehouse is no longer open to be read. */
  async #accept(
    flags: PlanFlags,
    project: Project,
    compiled: CompiledProject,
    contract: readonly ContractChange[],
  ): Promise<readonly ContractChange[]> {
    if (flags.accept === undefined) return []
    const { acceptChanges } = await import('../../pipeline/plan/accept.ts')
    const clients = clientsOf(
      acceptedModels(flags.accept, knownModels(compiled).keys()),
      project.readers.tokens,
    )
    using stop = onStop()
    const accepted = await changeWarehouse(project, stop, (opened) =>
      acceptChanges({ opened, project: compiled, clients, contract }),
    )
    if (accepted.length === 0) process.stderr.write('there is nothing to accept\n')
    return accepted
  }

  /** Against a manifest: neither the warehouse nor what is published is opened. */
  async #compare(
    flags: PlanFlags,
    { files, paths, readers }: Project,
    against: Manifest,
    selection: Selection,
  ): Promise<void> {
    const { compileOnce } = await import('../../compiler/compile-once.ts')
    const { hashSeeds } = await import('../../compiler/file-hashes.ts')
    const { planAgainst } = await import('../../pipeline/plan/plan-against.ts')
    const { withReaders } = await import('../../pipeline/read-by.ts')
    const { contractChanges } = await import('../../odata/edm/contract.ts')
    const project = await compileOnce(files, { ...paths, save: false })
    this.printWarnings(project.warnings)
    const contents = await hashSeeds(paths.dir, project.models.values())
    const plan = planAgainst(project, against, contents, selection)
    const { steps, removed } = plan
    const { published, next } = plan
    const changes = contractChanges(published, next)
    const tokensOf = tokensAmong(readers.tokens)
    const contract = withReaders(changes, project, tokensOf, published, next)
    const others = removed.map((model) =>
      flags.json ? JSON.stringify({ event: 'model-removed', model }) : `removed    ${model}`,
    )
    const { errors } = project
    const rest = { refusal: null, accepted: [], stopping: null }
    this.#finish(flags, { steps, contract, errors, others, ...rest })
  }

  #finish(flags: PlanFlags, planned: Planned): void {
    const { steps, contract, errors, others, refusal, accepted } = planned
    const isAccepted = acceptedAmong(accepted)
    const breaks =
      contract.some((change) => change.breaking && !isAccepted(change)) && !flags['allow-breaking']
    const ok = !breaks && errors.length === 0 && steps.every(({ problem }) => problem === null)
    if (flags.json) for (const event of eventsOf(planned, isAccepted)) this.printEvent(event)
    for (const line of others) this.print(line)
    if (!flags.json) this.print(showPlan(steps, contract, this.paintFor(flags)))
    if (breaks)
      process.stderr.write('clients may break; --allow-breaking accepts the changes above\n')
    const stopped = stoppedBy(planned)
    if (stopped.length > 0) process.stderr.write(stoppedText(stopped))
    if (accepted.length > 0) process.stderr.write(`${acceptedText(accepted)}\n`)
    if (errors.length > 0) this.showFailure(new DiagnosticsError(errors), flags)
    if (refusal !== null) throw refusal
    if (flags.json) this.printEvent({ event: 'plan-finished', ok, ...countsOf(steps, contract) })
    this.exit(ok ? 0 : 1)
  }
}

type PlanFlags = FlagsOf<typeof PipelinePlan>

interface Planned {
  readonly steps: readonly PlannedStep[]
  readonly contract: readonly ContractChange[]
  readonly errors: readonly Diagnostic[]
  /** Lines about models that no file makes any more. */
  readonly others: readonly string[]
  readonly refusal: EnvironmentError | null
  /** Now, or before. */
  readonly accepted: readonly ContractChange[]
  /** What stops sets of the guarded models, unless it is accepted; null: nothing is known of runs. */
  readonly stopping: {
    readonly changes: readonly ContractChange[]
    readonly guarded: readonly ModelName[]
  } | null
}

/** Models whose sets stay as they are published. */
function stoppedBy({ stopping, accepted }: Planned): readonly ModelName[] {
  if (stopping === null) return []
  const isAccepted = acceptedAmong(accepted)
  const sets = new Set(stopping.changes.filter((one) => !isAccepted(one)).map(({ set }) => set))
  return stopping.guarded.filter((name) => sets.has(entitySetName(name)))
}

const stoppedText = (models: readonly ModelName[]): string =>
  `a run builds ${models.join(', ')} and does not publish it like this; if clients are ready: eider plan --accept ${models.join(' --accept ')}\n`

const acceptedAmong =
  (accepted: readonly ContractChange[]) =>
  ({ set, change }: ContractChange): boolean =>
    accepted.some((one) => one.set === set && one.change === change)

function acceptedText(accepted: readonly ContractChange[]): string {
  const sets = [...new Set(accepted.map(({ set }) => set))]
  return `accepted: the next run publishes ${sets.join(', ')} like this`
}

/** Only these look at rows; all else is said of definitions and columns, which are known while a run works. */
const readsRows = (flags: PlanFlags): boolean =>
  flags.diff || flags['full-refresh'] || rangeOf(flags) !== null

function withWayOn(error: unknown): unknown {
  if (!isHeld(error)) return error
  const { code, message } = error
  return new EnvironmentError(code, message, {
    hint: 'try again when it has ended; without --diff, --full-refresh and --start a plan also works during a run',
    cause: error,
  })
}

function eventsOf(
  { steps, contract }: Planned,
  isAccepted: (change: ContractChange) => boolean,
): readonly { readonly event: string }[] {
  return [
    ...steps.map((step) => ({
      event: 'step',
      model: step.model.name,
      action: step.action,
      because: step.because,
      problem: step.problem,
      warnings: step.warnings,
      columns: step.columns,
      ranges: step.ranges,
      notes: step.notes,
      losses: step.losses,
      events: step.events,
      ...(step.older === undefined ? {} : { older_rows: step.older }),
      ...(step.diff === null ? {} : { diff: diffOf(step.diff) }),
    })),
    ...contract.map((change) => ({
      event: 'contract-change',
      ...change,
      ...(isAccepted(change) ? { accepted: true } : {}),
    })),
  ]
}

function diffOf({ rowsBefore, rowsAfter, ...rest }: ModelDiff) {
  return { rows_before: rowsBefore, rows_after: rowsAfter, ...rest }
}

function countsOf(steps: readonly PlannedStep[], contract: readonly ContractChange[]) {
  const { remove, ...counts } = planCounts(steps)
  return {
    ...counts,
    ...(remove === 0 ? {} : { remove }),
    breaking: contract.filter(({ breaking }) => breaking).length,
  }
}
