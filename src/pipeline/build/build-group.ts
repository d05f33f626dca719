// Small steps share a transaction: a commit costs several times what one of them does. A group is what one connection
// finds to do within the times of the store, each step after those of the models that it reads; all of it is committed, with the
// state, or nothing. When a step of it fails, or takes too long, those before it are built again together and that step
// in its own transaction, so that a failure hits only the model at fault, and a long step delays those before it by no
// more than these. A step that runs elsewhere has a separate group, whose transaction begins once its rows are there.

import { limits } from '../../core/limits.ts'
import type { ModelName } from '../../core/names.ts'
import type { ModelResult, Phase } from '../../core/report/progress.ts'
import { explainFailure, isInterruption, ModelFailure } from '../failure.ts'
import { startAnew } from '../changes/forgotten-values.ts'
import { recordChange } from '../changes/notes.ts'
import { notePosition } from '../changes/touched.ts'
import { interruptOnAbort } from '../interrupt.ts'
import { isOfRows } from '../lasting-failures.ts'
import { decide, type Decision, ofRange } from '../plan/decide.ts'
import { olderLine, type OlderRows, type Step, type ValueRange } from '../../core/step.ts'
import { isConflict } from '../../duckdb/errors.ts'
import { type RunResults, whyUnchanged } from '../results.ts'
import { leftAfter, olderRowsAfter } from '../rules/older.ts'
import { rangesBefore, ruleText } from '../rules/parts.ts'
import { keepsRules } from '../rules/rule.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import type { FlushPosition, NewRecord } from '../../store/state.ts'
import { changesOfFailed } from './failed-events.ts'
import { buildPieces } from './pieces.ts'
import { materializationOf } from './materialize/kinds.ts'
import { buildWithoutOld, noteNothingCame, removeOldRows } from './old-rows.ts'
import { changesOf } from './table-changes.ts'
import type { Built } from './materialize/materialization.ts'
import { continuesTable, noteRelation, relationType } from './materialize/relation.ts'
import { runChecks } from './run-checks.ts'
import { explainRead, refuseLostNumbers } from './server-values.ts'
import { isKnownByRows, versionAfter, versionOf } from './versions.ts'
import type { Model } from '../../core/model.ts'
import { kinds } from '../../core/kinds.ts'

interface GroupBuilder {
  readonly context: RunContext
  readonly results: RunResults
  readonly positions: ReadonlyMap<ModelName, FlushPosition>
  readonly isStopped: () => boolean
  /** The next step whose inputs were finished when the group began, or are in it. */
  readonly take: (group: ReadonlySet<ModelName>) => Step | null
  /** How long the last group of this run took from the end of its last step until it was committed. */
  readonly commits: { lastMs: number }
  /** How often other processes have changed something under this group. */
  readonly conflicts?: number
}

type Outcome = Omit<ModelResult, 'model' | 'ms'>

/** A step whose rows stand and are checked, in a transaction that is still open. */
interface UncommittedStep {
  readonly step: Step
  readonly outcome: Outcome
  /** null for a model that is left as it is. */
  readonly record: NewRecord | null
  readonly ms: number
}

/** True for a step that needs no transaction: it is skipped, it fails before a row is read, or nothing has changed. */
export function finishEarly(builder: Omit<GroupBuilder, 'take'>, step: Step): boolean {
  const { context, results } = builder
  const { model, problem } = step
  if (results.isBlocked(model)) return true
  const startedMs = performance.now()
  if (problem !== null) results.fail(model.name, problem)
  else if (hasWork(step) && decideNow(builder, step).because !== null) return false
  else {
    const outcome = leaveAsItIs(context, results, step)
    results.finish({ model: model.name, ...outcome, ms: performance.now() - startedMs })
  }
  return true
}

/** Builds `first` and those that join it on the connection of the context. Throws errors that are no model's. */
export async function buildGroup(builder: GroupBuilder, first: Step): Promise<void> {
  const { context, results } = builder
  const startedMs = performance.now()
  const joinMs = joinMsOf(builder)
  const group = [first]
  const names = new Set([first.model.name])
  let isWhole = false
  const next = () => {
    const step = performance.now() - startedMs <= joinMs ? builder.take(names) : null
    if (step === null) isWhole = true
    else {
      group.push(step)
      names.add(step.model.name)
    }
    return step
  }
  try {
    if (first.pieces.length > 0)
      await buildPieces(context, results, first, {
        fingerprint: decideNow(builder, first).fingerprint,
        build: (here, piece) => buildOne({ ...builder, context: here }, piece),
        explain: (error) => becauseOf(context, first.model, error),
      })
    else if (first.runs === 'here')
      await buildTogether(builder, () => buildOne(builder, first), next)
    else {
      results.start(first.model.name, first.because)
      const built = await buildRows(context, first)
      await buildTogether(
        builder,
        () => buildOne(builder, first, built),
        () => null,
      )
    }
  } catch (error) {
    for (const name of names) results.versions.delete(name)
    if (isInterruption(error, context.signal)) return
    const { conflicts = 0 } = builder
    if (isConflict(error) && conflicts < limits.lakeTries)
      return await buildOneByOne({ ...builder, conflicts: conflicts + 1 }, group)
    if (group.length > 1) return await buildAgain(builder, group, isWhole)
    const cause = (await explainRead(context, first, error)) ?? error
    const because = becauseOf(context, first.model, cause)
    const known =
      error instanceof ModelFailure ? await changesOfFailed(context, results, first) : {}
    results.fail(first.model.name, because, performance.now() - startedMs, known)
    if (isOfRows(error)) results.noteRows(first.model.name)
  }
}

function becauseOf(context: RunContext, model: Model, error: unknown): string {
  const { paths, createdIn, store, selected } = context
  const statement = materializationOf(model).statement(model, paths.dir, createdIn)
  return explainFailure(store.explain(error), model, statement, selected)
}

/** Where commits take long, as on a busy machine or far from their server, more models are worth one. */
function joinMsOf({ context, commits }: Pick<GroupBuilder, 'context' | 'commits'>): number {
  const { joinMs, joinCommits } = context.store.groups
  return Math.max(joinMs, Math.min(joinCommits * commits.lastMs, limits.groupMostMs))
}

/** `isWhole`: it failed when it was to be committed, so nobody knows which of its steps is at fault. */
async function buildAgain(
  builder: GroupBuilder,
  group: readonly Step[],
  isWhole: boolean,
): Promise<void> {
  if (isWhole) return await buildOneByOne(builder, group)
  const waiting = group.slice(0, -1)
  const take = () => {
    while (!builder.isStopped()) {
      const step = waiting.shift()
      if (step === undefined) break
      if (!finishEarly(builder, step)) return step
    }
    return null
  }
  for (let first = take(); first !== null; first = take())
    await buildGroup({ ...builder, take }, first)
  await buildOneByOne(builder, group.slice(-1))
}

async function buildOneByOne(builder: GroupBuilder, group: readonly Step[]): Promise<void> {
  for (const step of group)
    if (!builder.isStopped() && !finishEarly(builder, step))
      await buildGroup({ ...builder, take: () => null }, step)
}

/** When it throws, nothing has changed. */
async function buildTogether(
  builder: GroupBuilder,
  buildFirst: () => Promise<UncommittedStep>,
  next: () => Step | null,
): Promise<void> {
  const { context, results } = builder
  const { connection, runId, store } = context
  const group: UncommittedStep[] = []
  let builtMs = 0
  await store.state.change(connection, async () => {
    group.push(await buildFirst())
    {
      const heldMs = Math.ceil(joinMsOf(builder) + store.groups.heldMs - store.groups.joinMs)
      using _held = interruptOnAbort([connection], AbortSignal.timeout(heldMs))
      for (let step = next(); step !== null; step = next())
        if (!results.isBlocked(step.model)) group.push(await buildOne(builder, step))
    }
    builtMs = performance.now()
    await store.state.recordModels(
      connection,
      runId,
      group.flatMap(({ record }) => record ?? []),
    )
  })
  builder.commits.lastMs = performance.now() - builtMs
  const shareMs = builder.commits.lastMs / group.length
  for (const { step, outcome, record, ms } of group) {
    const { model } = step
    if (record !== null) noteRelation(context, model)
    results.finish({ model: model.name, ...outcome, ms: ms + (record === null ? 0 : shareMs) })
  }
}

/** `built`: what was made elsewhere already. */
async function buildOne(
  builder: GroupBuilder,
  step: Step,
  built: Built | null = null,
): Promise<UncommittedStep> {
  const { context, results } = builder
  const { model } = step
  const startedMs = performance.now()
  const done = (outcome: Outcome, record: NewRecord | null): UncommittedStep => {
    return { step, outcome, record, ms: performance.now() - startedMs }
  }
  const { because: reason, does, ...decision } = decideNow(builder, step)
  const because = step.slice === 'whole' ? reason : step.because
  if (because === null) return done(leaveAsItIs(context, results, step), null)
  if (model.kind === 'events') {
    const removed = context.oldRows.has(model.name) ? await removeOldRows(context, model) : 0
    // The rows came with the flush and stay, even when checks fail: those who sent them think them safe.
    const { fingerprint } = decision
    const version = versionOf(context, model, fingerprint)
    results.versions.set(model.name, version)
    const rows = results.flushed.get(model.name)?.events ?? 0
    const found = await checkRows(context, model)
    const changes = await changesOf(context, step, {
      counts: { added: rows, changed: 0, removed },
    })
    const outcome = { status: 'built', because, rows, ...changes } as const
    const said = [...found, ...context.changes.takeWarnings(model.name)]
    return done(withWarnings(step, outcome, said), { model, fingerprint, version })
  }
  results.start(model.name, because)
  const isNewTable = !continuesTable(context, model)
  // Of the rows outside of a range nothing is read, so they are still those of the inputs that were read before.
  const known = step.slice === 'whole' || isNewTable ? null : recordOf(context, model)
  const fingerprint = known === null ? decision.fingerprint : ofRange(context, model, known)
  if (isNewTable && kinds[model.kind].keepsRows) await startAnew(context, model)
  const {
    rows,
    version,
    warnings,
    left,
    counts,
    ranges = rangesOf(step, isNewTable),
  } = await build(context, { ...step, action: does }, fingerprint, built)
  const before = recordOf(context, model)?.version ?? ''
  await recordChange(context, model, { before, after: version })
  if (does === 'build') await notePosition(context, step, isNewTable)
  const said = [...warnings, ...context.changes.takeWarnings(model.name)]
  results.versions.set(model.name, version)
  const changes = await changesOf(context, step, { rows, counts })
  const outcome = {
    status: 'built',
    because,
    ...(rows === undefined ? {} : { rows }),
    ...changes,
  } as const
  const others = isNewTable || !keepsRules(model) ? [] : await rangesBefore(context, model)
  const all = { ranges: [...others, ...ranges], ...(await leftAfter(context, model, left)) }
  const rule = keepsRules(model) ? ruleText(context, model) : null
  const record = { model, fingerprint, version, rule, ...all, isNewTable }
  const isMixed = keepsRules(model) && !isNewTable && !context.forwardOnly
  const older = isMixed ? await olderRowsAfter(context, model, all) : null
  return done(withWarnings(step, outcome, said, older), record)
}

function rangesOf({ model, slice }: Step, isNewTable: boolean): readonly ValueRange[] {
  if (slice !== 'whole') return [slice]
  return isNewTable && kinds[model.kind].keepsRows ? [{ start: null, end: null }] : []
}

/** Whether the model must be built after all, now that those before it are finished. */
function decideNow(
  { context, results, positions }: Pick<GroupBuilder, 'context' | 'results' | 'positions'>,
  { model, slice }: Step,
): Decision {
  const versionOf = (name: ModelName) =>
    results.versions.get(name) ?? context.state.models.get(name)?.version
  return decide(context, model, slice, { versionOf, pending: NONE, positions, waiting: NONE })
}

const NONE: ReadonlySet<ModelName> = new Set()

function leaveAsItIs(context: RunContext, results: RunResults, step: Step): Outcome {
  const { model } = step
  const record = recordOf(context, model)
  if (record === null) throw new Error(`${model.name} was never built`)
  results.versions.set(model.name, record.version)
  return withWarnings(step, { status: 'unchanged', because: whyUnchanged(model) }, [], step.older)
}

function withWarnings(
  step: Step,
  outcome: Outcome,
  found: readonly string[] = [],
  older: OlderRows | null = null,
): Outcome {
  const lines = older === null ? [] : [olderLine(older)]
  const warnings = [...new Set([...step.warnings, ...found, ...lines])]
  return {
    ...outcome,
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(older === null ? {} : { older_rows: older }),
  }
}

interface BuiltRows extends Pick<Built, 'rows' | 'counts' | 'ranges' | 'left'> {
  readonly version: string
  readonly warnings: readonly string[]
}

/** What carries out each action; null: there is nothing to do. */
const work: Readonly<
  Record<Step['action'], ((context: RunContext, step: Step) => Promise<Built>) | null>
> = {
  async build(context, { model, slice }) {
    await refuseLostNumbers(context, { model, slice })
    return await buildWithoutOld(context, { model, slice }, () =>
      materializationOf(model).build(context, model, slice),
    )
  },
  async remove(context, { model }) {
    const rows = await removeOldRows(context, model)
    noteNothingCame(context, model)
    return { changed: rows > 0, rows, counts: { added: 0, changed: 0, removed: rows } }
  },
  unchanged: null,
  skip: null,
}

export const hasWork = ({ action }: Step): boolean => work[action] !== null

/** Does a step that nothing blocks (plan/steps.ts). When it throws, the transaction, if any, is to be rolled back. */
async function buildRows(context: RunContext, step: Step): Promise<Built> {
  const worker = work[step.action]
  if (worker === null) throw new Error(`${step.model.name} has no work to do`)
  return await timed(context, step.model, 'build', () => worker(context, step))
}

/**
 * In the transaction of the caller, who records the version in it. `made`: rows that are there already, else they are
 * made here. Throws with the transaction to be rolled back.
 */
async function build(
  context: RunContext,
  step: Step,
  fingerprint: string,
  made: Built | null,
): Promise<BuiltRows> {
  const { model } = step
  const built = made ?? (await buildRows(context, step))
  const warnings = await checkRows(context, model)
  const before = recordOf(context, model)
  const isNew = built.changed || before === null
  const isByRows = isKnownByRows(context, model, built)
  const version = isNew ? await versionAfter(context, step, isByRows, fingerprint) : before.version
  const { changed: _, ...others } = built
  const wasThere = relationType(context.catalog, model.name) === kinds[model.kind].relation
  const isSame = wasThere && isByRows && version === before?.version
  return { ...others, ...(isSame ? { counts: NOTHING } : {}), version, warnings }
}

const NOTHING = { added: 0, changed: 0, removed: 0 }

function checkRows(context: RunContext, model: Model): Promise<readonly string[]> {
  const { connection, paths, failingRows: most = 0 } = context
  const check = () => runChecks(connection, model, { dir: paths.dir, most })
  return model.checks.length === 0 ? check() : timed(context, model, 'checks', check)
}

async function timed<T>(
  { onPhase }: RunContext,
  { name: model }: Model,
  phase: Phase['phase'],
  work: () => Promise<T>,
): Promise<T> {
  const startedMs = performance.now()
  try {
    return await work()
  } finally {
    onPhase?.({ model, phase, startedMs, ms: performance.now() - startedMs })
  }
}
