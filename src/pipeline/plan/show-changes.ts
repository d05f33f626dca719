// The steps of a run with what each would change: `eider plan`. Nothing is written but temporary tables.

import type { WaitingSegment } from '../../buffer/claim-source.ts'
import type { Logger } from '../../core/logger.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import type { EnvironmentError } from '../../core/failures.ts'
import { type ModelName, sameName } from '../../core/names.ts'
import type {
  PlannedColumn,
  EventsVerdict,
  PlannedStep,
} from '../../core/report/planned-changes.ts'
import type { Step } from '../../core/step.ts'
import type { Column } from '../../core/relation.ts'
import { byHandText } from '../../core/report/by-hand.ts'
import type { Orphan } from '../../core/report/progress.ts'
import type { ExpectedRelation, Snapshot } from '../../core/snapshot.ts'
import { knownModels } from '../../compiler/select.ts'
import { catalogKey } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { readingFor } from '../build/materialize/events.ts'
import { pendingRenames, withRenames } from '../build/materialize/renames.ts'
import { countByHand, leftAlone } from '../by-hand.ts'
import { warnIfOlder } from '../older-than-published.ts'
import { FailedModels } from '../results.ts'
import { judgeEvents, rejectedFor } from '../flush/judge-events.ts'
import { keptRelations, readOrphans, refusalToEmpty, refuseToEndHistories } from '../orphans.ts'
import { readContext } from '../read-context.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import { isAboutAll, type PlanRequest } from '../run-request.ts'
import { isFlushed, STATE_SCHEMA } from '../../store/state.ts'
import type { PlanProgress } from './decide.ts'
import { DryRun } from './dry-run/dry-run.ts'
import { nextPublication, columnChanges, nothingKnown } from './next-publication.ts'
import { narrow, planSteps, refuseEvents, uncompiledSteps } from './steps.ts'

interface PlanSource {
  readonly connection: Connection
  readonly withNewEvents: ReadonlySet<ModelName>
  /** Those events, as files to be read. */
  readonly waitingSegments: (model: ModelName) => Promise<readonly WaitingSegment[]>
}

interface PlanOptions extends PlanRequest, PlanSource {
  /** Build the models in memory, and compare their rows with what the warehouse holds. */
  readonly diff: boolean
  /** Relations have columns and no rows. */
  readonly isLastState?: boolean
  /** Hears what a run would say of the warehouse as a whole. */
  readonly logger?: Logger
}

export interface RunPlan {
  readonly steps: readonly PlannedStep[]
  readonly published: Snapshot | null
  readonly next: readonly ExpectedRelation[]
  readonly orphans: readonly Orphan[]
  /** Why a run would end before the first step; null: it would not. */
  readonly refusal: EnvironmentError | null
}

/** What a run that starts now would know, and its steps. Throws UsageError for a selector that can never match. */
export async function readSteps(
  request: PlanRequest,
  { connection, withNewEvents: waiting }: Omit<PlanSource, 'waitingSegments'>,
): Promise<{ readonly context: RunContext; readonly steps: readonly Step[] }> {
  const names = knownModels(request.project).keys()
  const { catalog, state } = await request.store.state.read(connection, names)
  const never = new AbortController().signal
  const context = await readContext(request, {
    connection,
    catalog,
    state,
    runId: 'plan',
    startedAt: new Date(),
    signal: never,
  })
  const failed = await refuseEvents(context)
  const { range = null, by = null } = request
  const steps = await planSteps(context, { positions: state.positions, waiting, failed, range, by })
  return { context, steps }
}

/** Throws as readSteps() does, and UsageError for histories that would end. */
export async function planRun(options: PlanOptions): Promise<RunPlan> {
  const { project } = options
  const { models } = project
  const { context, steps } = await readSteps(options, options)
  await warnAsRun(context, options)
  if (options.keepHistory === true) await refuseToEndHistories(context)
  // Before a dry run, in which names mean its own relations.
  const orphans = isAboutAll(options) ? await readOrphans(context, project) : []
  const before = new Map<Model, readonly Column[] | null>()
  for (const { action, model } of steps)
    if (action === 'build')
      before.set(model, await context.columnsBefore(context.connection, model.name))
  // As the warehouse has them.
  const byHand =
    options.isLastState === true ? [] : await countByHand(context, await leftAlone(context, steps))
  const waiting = (model: Model) => unflushed(options, context, model)
  const shown = options.diff
    ? await buildInMemory(context, steps, options, await DryRun.open(context, waiting))
    : await addEvents(context, steps, options, waiting)
  const published = withoutKept(await options.store.snapshots.current(), project)
  const compiled = shown.map((step) => ({
    ...step,
    warnings: [
      ...step.warnings,
      ...byHand.filter(({ model }) => model === step.model.name).map(byHandText),
    ],
    columns: columnsOf(step, before.get(step.model) ?? null),
  }))
  const others = uncompiledSteps(context)
  return {
    steps: [...compiled, ...others.map((step) => ({ ...step, ...nothingKnown }))],
    published,
    next: nextPublication(published, models, succeeding(shown), context.state.models),
    orphans,
    refusal: await refusalToEmpty(options),
  }
}

async function warnAsRun(
  { connection, catalog, store }: RunContext,
  { logger, isLastState }: PlanOptions,
): Promise<void> {
  // A run that goes on may have published since the state that it left for readers.
  if (logger === undefined || isLastState === true) return
  if (catalog.relations.has(catalogKey(STATE_SCHEMA, 'runs')))
    await warnIfOlder(connection, store, logger)
}

/** What is published of the others stays, as of those that are not selected. */
const succeeding = (steps: readonly Step[]): ReadonlySet<ModelName> =>
  new Set(
    steps.flatMap(({ model, action, problem }) =>
      action === 'skip' || problem !== null ? [] : [model.name],
    ),
  )

/** What is published of models that do not compile stays. */
function withoutKept(published: Snapshot | null, project: CompiledProject): Snapshot | null {
  if (published === null) return null
  const isKept = keptRelations(project)
  const relations = published.relations.filter(({ model }) => !isKept(model))
  return { ...published, relations }
}

/** `columns`: what the model will have. */
type ShownStep = Step &
  Omit<PlannedStep, 'columns' | 'model'> & { readonly columns: readonly Column[] }

/** Each model as the run would build it, after all it reads: what it does to the rows, and where less is to be done. */
async function buildInMemory(
  context: RunContext,
  steps: readonly Step[],
  { withNewEvents: waiting }: PlanSource,
  dryRun: DryRun,
): Promise<readonly ShownStep[]> {
  const { positions, models } = context.state
  const pending = new Set<ModelName>()
  const versionOf = (name: ModelName) => models.get(name)?.version
  const progress: PlanProgress = { versionOf, pending, positions, waiting }
  const failed = new FailedModels()
  const shown: ShownStep[] = []
  for (const planned of steps) {
    const step = narrow(context, planned, progress, failed)
    const { name } = step.model
    const isBuilt = step.action === 'build' && step.problem === null
    const isReduced = step.action === 'remove' && step.problem === null
    const built = isBuilt
      ? await dryRun.build(step)
      : isReduced
        ? await dryRun.remove(step.model)
        : null
    const problem = step.problem ?? built?.problem ?? null
    if (problem !== null) failed.add(name)
    if (built?.changed === true) pending.add(name)
    const { events = null, diff = null } = built ?? {}
    const columns = built?.columns ?? step.model.columns
    const ranges = built?.ranges ?? step.ranges
    shown.push({ ...step, problem, columns, events, diff, ranges })
  }
  return shown
}

/** An events model that is new or was edited may reject what was acknowledged to senders. */
async function addEvents(
  context: RunContext,
  steps: readonly Step[],
  { withNewEvents }: PlanSource,
  waiting: (model: Model) => Promise<readonly WaitingSegment[]>,
): Promise<readonly ShownStep[]> {
  const shown: ShownStep[] = []
  for (const step of steps) {
    const { model, action } = step
    let events: EventsVerdict | null = null
    if (action === 'build' && model.kind === 'events') {
      const rejectedIn = rejectedFor(model, context)
      const isOther = recordOf(context, model)?.definition !== model.definition
      if (isOther && (rejectedIn !== null || withNewEvents.has(model.name)))
        events = await judgeEvents(
          context,
          await readingFor(context, model),
          await waiting(model),
          rejectedIn,
        )
    }
    shown.push({ ...step, columns: model.columns, events, diff: null })
  }
  return shown
}

/** A segment whose events are committed may lie in the buffer until the next run takes it away. */
async function unflushed(
  { waitingSegments }: PlanSource,
  { state }: RunContext,
  { name }: Model,
): Promise<readonly WaitingSegment[]> {
  const isNew = (segment: WaitingSegment) =>
    !isFlushed(state.positions.get(segment.target), segment)
  return (await waitingSegments(name)).filter(isNew)
}

/**
 * `before`: null where there is no relation yet. An events table keeps the columns that its model no longer lists, and so
 * does a table that keeps them when told.
 */
function columnsOf(
  { action, model, columns }: ShownStep,
  before: readonly Column[] | null,
): readonly PlannedColumn[] {
  if (before === null || action !== 'build') return []
  const keepsGone =
    model.kind === 'events' || ('onSchemaChange' in model && model.onSchemaChange === 'keep')
  const renames = pendingRenames(model, before)
  const renamed = renames.flatMap(({ from, to }) => {
    const [was, now] = [typeIn(before, from), typeIn(columns, to)]
    return was === null || now === null
      ? []
      : [{ column: to, from: was, to: now, renamedFrom: from }]
  })
  const others = columnChanges(withRenames(before, renames), columns, keepsGone)
  const isRenamed = (name: string) => renamed.some(({ column }) => sameName(column, name))
  return [...renamed, ...others.filter(({ column }) => !isRenamed(column))]
}

const typeIn = (columns: readonly Column[], name: string): string | null =>
  columns.find((column) => sameName(column.name, name))?.type ?? null
