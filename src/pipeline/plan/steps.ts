// The steps of a run, one for each selected model, in DAG order: what `ls`, `plan` and `plan --diff` show
// and `run` executes. Who executes them may only narrow the list: a model whose inputs turn out not to have changed is
// left as it is, and what reads a model that fails on its rows is skipped.

import { type Diagnostic, lineOf } from '../../core/diagnostics.ts'
import type { FailedModel, Model } from '../../core/model.ts'
import { type ModelName, foldCase, sameName, splitModelName } from '../../core/names.ts'
import { FailedModels, whyUnchanged } from '../results.ts'
import { kinds } from '../../core/kinds.ts'
import type { Step, Slice } from '../../core/step.ts'
import { type RunContext, recordOf } from '../run-context.ts'
import { type Asked, decide, type Decision, decideAll, type PlanProgress } from './decide.ts'
import { keptTableNotes } from '../changes/kept-tables.ts'
import { unfollowedBy } from '../changes/unfollowed.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { olderRows } from '../rules/older.ts'
import { recordedParts } from '../rules/recorded.ts'
import { keepsRules } from '../rules/rule.ts'
import { staleInputs } from './source-age.ts'
import { sql } from '../../core/sql.ts'
import { count } from '../../core/counts.ts'
import { leftOffAt, piecesOf } from '../build/pieces.ts'
import type { Borrowed } from '../borrow/borrow.ts'
import { materializationOf, materializations } from '../build/materialize/kinds.ts'
import { findOldRows, oldRowsText, refuseToRemoveMost } from '../build/old-rows.ts'
import { countRows, goesOnAs, relationType } from '../build/materialize/relation.ts'
import { explainFailure, fullRefreshOf, isInterruption, ModelFailure } from '../failure.ts'
import { STATE_SCHEMA } from '../../store/state.ts'

/** Why a model cannot be built; it comes before anything else that is known of it. */
export interface EarlyFailure {
  readonly problem: string
  readonly diagnostics?: readonly Diagnostic[]
}

export type EarlyFailures = ReadonlyMap<ModelName, EarlyFailure>

/** `failed`: refuseEvents(), and in a run what its flush could not do. */
export async function planSteps(
  context: RunContext,
  asked: Asked & { readonly failed: EarlyFailures },
): Promise<readonly Step[]> {
  // A dry run covers what is recorded.
  await context.partsBefore(context.connection)
  const failures = new FailedModels()
  const steps: Step[] = []
  for (const [name, old] of await findOldRows(context)) context.oldRows.set(name, old)
  for (const decision of decideAll(context, asked)) {
    const { name } = decision.model
    const step = await planStep(
      context,
      decision,
      { failed: asked.failed.get(name), by: asked.by },
      failures,
    )
    if (step.problem !== null) failures.add(name)
    steps.push(step)
  }
  return steps
}

/** Selected models that cannot be built; they come after the others. */
export function uncompiledSteps({
  chosen,
  project,
}: Pick<RunContext, 'chosen' | 'project'>): readonly Step<FailedModel>[] {
  const failed = [...project.failed.values()].filter(({ name }) => chosen.has(name))
  return failed.map((model) => {
    const { mistakes: diagnostics, failedBy } = model
    const [first] = diagnostics
    const rest = {
      model,
      slice: 'whole',
      pieces: [],
      runs: 'here',
      diagnostics,
      warnings: [],
      ranges: [],
      notes: [],
      losses: [],
    } as const
    return first === undefined
      ? { ...rest, action: 'skip', because: `${failedBy} fails`, problem: null }
      : { ...rest, action: 'build', because: 'does not compile', problem: lineOf(first) }
  })
}

/**
 * The events models that a run would not flush, as messages with places. Checked for all, since a flush looks at
 * each of their tables.
 */
export async function refuseEvents(context: RunContext): Promise<EarlyFailures> {
  const refused = new Map<ModelName, EarlyFailure>()
  for (const name of context.selected) {
    const model = context.project.models.get(name)!
    if (model.kind !== 'events') continue
    const { problem } = await assess(context, model, 'whole')
    if (problem !== null) refused.set(name, { problem })
  }
  return refused
}

/** The step once the models before it are built: there may be less to do than was planned. Call in DAG order. */
export function narrow(
  context: RunContext,
  step: Step,
  progress: PlanProgress,
  failed: FailedModels,
): Step {
  const { model, slice, action, problem } = step
  const root = failed.upstreamOf(model)
  if (root !== null)
    return { ...step, action: 'skip', because: `${root} fails`, problem: null, ...NOTHING_DONE }
  if ((action !== 'build' && action !== 'remove') || problem !== null) return step
  const { because, does } = decide(context, model, slice, progress)
  if (because !== null) return { ...step, action: does, because }
  return { ...step, action: 'unchanged', because: whyUnchanged(model), ...NOTHING_DONE }
}

const NOTHING_DONE = { pieces: [], ranges: [], notes: [], losses: [] } as const

async function planStep(
  context: RunContext,
  { model, slice, because, does, fingerprint }: Decision,
  { failed, by }: { readonly failed: EarlyFailure | undefined; readonly by: string | null },
  failures: FailedModels,
): Promise<Step> {
  const warnings = staleInputs(model, context.sourceAges, 'warn')
  const { runs } = kinds[model.kind]
  const rest = { model, slice, runs, problem: null, diagnostics: [], warnings, ...NOTHING_DONE }
  const reason = because ?? whyUnchanged(model)
  if (failed !== undefined)
    return { ...rest, diagnostics: [], ...failed, action: 'build', because: reason }
  const root = failures.upstreamOf(model)
  if (root !== null) return { ...rest, action: 'skip', because: `${root} fails` }
  const [stale] = staleInputs(model, context.sourceAges, 'error')
  if (stale !== undefined) return { ...rest, action: 'build', because: reason, problem: stale }
  const older = await olderIn(context, model, because === null ? null : slice)
  if (because === null) return { ...rest, action: 'unchanged', because: reason, ...older }
  // Events models have been checked already.
  const isAssessed = does === 'build' && model.kind !== 'events'
  const assessment = isAssessed ? await assess(context, model, slice, by) : NO_PROBLEM
  const withOld = withOldRows(context, model, does, assessment)
  const said = [...warnings, ...withOld.warnings]
  const step: Step = { ...rest, action: does, because, ...withOld, warnings: said, ...older }
  const [range] = step.ranges
  if (slice === 'whole') return step
  const of = range === undefined ? '' : ` of ${range.start} to ${range.end}`
  const pieces =
    step.pieces.length === 0 ? '' : ` in ${await piecesText(context, step, fingerprint)}`
  return { ...step, because: `${because}${of}${pieces}` }
}

/** How many there are, and where the run goes on behind those that one before it has built. */
async function piecesText(
  context: RunContext,
  { model, pieces }: Step,
  fingerprint: string,
): Promise<string> {
  const all = count(pieces.length, 'piece')
  const leftOff = await leftOffAt(context, model, pieces[0]!.start, fingerprint)
  const built = pieces.findIndex(({ start }) => start === leftOff)
  return built <= 0
    ? all
    : `${all}, of which ${built} ${built === 1 ? 'is' : 'are'} built: from ${leftOff} on`
}

async function olderIn(
  context: RunContext,
  model: Model,
  toDo: Slice | null,
): Promise<Pick<Step, 'older'>> {
  if (!keepsRules(model) || model.dependsOn.some((name) => context.borrowed?.relations.has(name)))
    return {}
  if (toDo !== null) await (await recordedParts(context, model)).ranges()
  // A table of other columns is refused by the step itself.
  const older = await ifRefused(olderRows(context, model, toDo), () => null)
  return older === null ? {} : { older }
}

interface Assessment {
  /** One line with its place, which names the flag or the change that helps; null: nothing blocks it yet. */
  readonly problem: string | null
  readonly pieces: Step['pieces']
  readonly ranges: Step['ranges']
  readonly notes: Step['notes']
  readonly warnings: Step['warnings']
  /** What the run would replace or drop, as far as the flags allow it; one line each. */
  readonly losses: readonly string[]
}

const NO_PROBLEM: Assessment = { problem: null, warnings: [], ...NOTHING_DONE }

function withOldRows(
  context: RunContext,
  model: Model,
  does: Decision['does'],
  assessment: Assessment,
): Assessment {
  const old = context.oldRows.get(model.name)
  if (old === undefined || assessment.problem !== null) return assessment
  try {
    refuseToRemoveMost(context, model, old)
  } catch (error) {
    return { ...NO_PROBLEM, problem: explainFailure(error, model, null) }
  }
  if (does === 'remove') return assessment
  return { ...assessment, losses: [...assessment.losses, `removes ${oldRowsText(old)}`] }
}

async function assess(
  context: RunContext,
  model: Model,
  slice: Slice,
  by: string | null = null,
): Promise<Assessment> {
  try {
    refuseReservedSchema(context, model)
    if (kinds[model.kind].relation === 'table') context.store.tables.refuse(model.columns)
    refuseMissingInputs(context, model)
    refuseLostTable(context, model)
    const materialization = materializationOf(model)
    await materialization.refuse(context, model, slice)
    refuseReplacement(context, model)
    const ranges = (await materialization.ranges?.(context, model, slice)) ?? []
    const unfollowed = slice === 'whole' ? await unfollowedBy(context, model) : null
    const notes = [...(unfollowed?.notes ?? []), ...keptTableNotes(context, model)]
    const pieces = by === null ? [] : await piecesIn(context, model, slice, ranges, by)
    const losses = await lossesOf(context, model, slice)
    const warnings = [...(unfollowed?.warnings ?? []), ...context.changes.takeWarnings(model.name)]
    return { problem: null, pieces, ranges, notes, warnings, losses }
  } catch (error) {
    if (isInterruption(error, context.signal)) throw error
    return { ...NO_PROBLEM, problem: explainFailure(error, model, null) }
  }
}

async function piecesIn(
  { connection }: RunContext,
  model: Model,
  slice: Slice,
  [rounded]: Step['ranges'],
  by: string,
): Promise<Step['pieces']> {
  if (slice === 'whole' || !('onSchemaChange' in model) || model.kind === 'events') return []
  const range = { start: rounded?.start ?? slice.start, end: rounded?.end ?? slice.end }
  return piecesOf(connection, model, range, by)
}

async function lossesOf(
  context: RunContext,
  model: Model,
  slice: Slice,
): Promise<readonly string[]> {
  const { connection, fullRefresh, catalog } = context
  if (relationType(catalog, model.name) !== 'table' || model.kind === 'events') return []
  const record = recordOf(context, model)
  if (!fullRefresh || (record !== null && !kinds[record.kind].keepsRows))
    return materializationOf(model).losses(context, model, slice)
  const rows = await countRows(connection, sql.relation(model.name))
  return [`--full-refresh drops ${count(rows, 'row')} of the table`]
}

function refuseReservedSchema({ catalog }: RunContext, { name }: Model): void {
  const { schema } = splitModelName(name)
  if (foldCase(schema) === STATE_SCHEMA)
    throw new ModelFailure(`the schema "${schema}" is reserved for eider; rename the folder`)
  // `a.b` means schema a or catalog a; where both exist DuckDB refuses the name.
  if (sameName(schema, catalog.database))
    throw new ModelFailure(
      `the schema "${schema}" has the same name as the database file; rename the folder or the file (\`database\` in eider.yml)`,
    )
}

/** Its inputs are neither selected nor built by an earlier run. */
function refuseMissingInputs(
  { selected, state, catalog, borrowed }: RunContext,
  { name, dependsOn }: Model,
): void {
  if (borrowed !== null) return refuseUnpublished(borrowed, selected, name, dependsOn)
  const isBuilt = (input: ModelName) =>
    state.models.get(input)?.removed === false && relationType(catalog, input) !== null
  const missing = dependsOn.filter((input) => !selected.has(input) && !isBuilt(input))
  if (missing.length === 0) return
  throw new ModelFailure(
    `it reads ${missing.join(', ')}, which was never built and is not selected; select the upstream models too: --select +${name}`,
  )
}

/** Only events models: others are built along. */
function refuseUnpublished(
  { lender, relations }: Borrowed,
  selected: RunContext['selected'],
  name: ModelName,
  dependsOn: readonly ModelName[],
): void {
  const missing = dependsOn.filter((input) => !selected.has(input) && !relations.has(input))
  if (missing.length === 0) return
  const names = missing.join(', ')
  throw new ModelFailure(
    `it reads ${names}, whose events ${lender} does not publish; add -- @expose to it and run ${lender}, or take the events of this target: --select ${name} --select ${missing.join(' --select ')}`,
  )
}

/** What it held is not what can be built again, so readers would be given less, and nobody would have said so. */
function refuseLostTable({ lost, allowEmpty, fullRefresh }: RunContext, model: Model): void {
  const { name, kind } = model
  if (!lost.has(name) || allowEmpty || (fullRefresh && kind !== 'events')) return
  const [held, way] =
    kind === 'events'
      ? ['the events in it', `start without them: eider run ${name} --allow-empty`]
      : [
          'rows that its source may no longer have',
          `build it from what it reads now: ${fullRefreshOf(name)}`,
        ]
  throw new ModelFailure(
    `the table ${name} is gone from the warehouse, and with it ${held}; restore the warehouse from a backup, or ${way}`,
  )
}

/**
 * Rebuilding a relation from nothing would destroy rows that cannot be recovered: a history, collected events, or a
 * table that no run created. A merge may have kept rows that its source deleted; nothing remembers whether it did.
 */
function refuseReplacement(context: RunContext, model: Model): void {
  const { catalog, fullRefresh } = context
  if (relationType(catalog, model.name) !== 'table') return
  const record = recordOf(context, model)
  if (record === null) {
    if (fullRefresh) return
    const { name, kind } = model
    const canAdopt = kinds[kind].keepsRows && kind !== 'events'
    const ways = canAdopt
      ? `to keep its rows: eider adopt ${name}; otherwise rename it, or replace it`
      : 'rename it, or replace it'
    throw new ModelFailure(
      `a table ${name} exists that no run created; ${ways}: ${fullRefreshOf(name)}`,
    )
  }
  if (goesOnAs(record.kind, model)) return
  const { name, kind } = model
  const refusal = materializations[record.kind].refuseReplacement(name, kind, fullRefresh)
  if (refusal !== null) throw new ModelFailure(refusal)
}
