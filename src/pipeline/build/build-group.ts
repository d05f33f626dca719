// Small steps share a transaction: a commit costs several times what one of them does. A group is what one connection
// finds to do within limits.groupMs, each step after those of the models that it reads; all of it is committed, with the
// state, or nothing. When anything in it fails, each of its steps is done in its own transaction, so that a failure hits
// only the model at fault, and a long step delays those before it by no more than limits.groupHeldMs. A step that runs
// elsewhere has a separate group, whose transaction begins once its rows are there.

import { limits } from '../../core/limits.ts'
import type { ModelName } from '../../core/names.ts'
import type { ModelResult } from '../../core/report/progress.ts'
import { explainFailure, isInterruption } from '../failure.ts'
import { interruptOnAbort } from '../interrupt.ts'
import { decide, type Decision } from '../plan/decide.ts'
import type { Step } from '../../core/step.ts'
import { isConflict } from '../../duckdb/errors.ts'
import { type RunResults, whyUnchanged } from '../results.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import type { FlushPosition, NewRecord } from '../../store/state.ts'
import { build, buildRows, checkRows, hasWork, versionOf } from './build.ts'
import { materializationOf } from './materialize/kinds.ts'
import type { Built } from './materialize/materialization.ts'
import { continuesTable, noteRelation } from './materialize/relation.ts'

interface GroupBuilder {
  readonly context: RunContext
  readonly results: RunResults
  readonly positions: ReadonlyMap<ModelName, FlushPosition>
  readonly isStopped: () => boolean
  /** The next step whose inputs were finished when the group began, or are in it. */
  readonly take: (group: ReadonlySet<ModelName>) => Step | null
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
  const group = [first]
  const names = new Set([first.model.name])
  const next = () => {
    if (performance.now() - startedMs > limits.groupMs) return null
    const step = builder.take(names)
    if (step !== null) {
      group.push(step)
      names.add(step.model.name)
    }
    return step
  }
  try {
    if (first.runs === 'here') await buildTogether(builder, () => buildOne(builder, first), next)
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
    if (group.length > 1) return await buildOneByOne(builder, group)
    const { model } = first
    const { paths, createdIn } = context
    const statement = materializationOf(model).statement(model, paths.dir, createdIn)
    const cause = context.store.explain(error)
    const because = explainFailure(cause, model, statement, context.selected)
    results.fail(model.name, because, performance.now() - startedMs)
  }
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
      using _held = interruptOnAbort([connection], AbortSignal.timeout(limits.groupHeldMs))
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
  const shareMs = (performance.now() - builtMs) / group.length
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
  const { fingerprint, because } = decideNow(builder, step)
  if (because === null) return done(leaveAsItIs(context, results, step), null)
  if (model.kind === 'events') {
    // The rows came with the flush and stay, even when checks fail: those who sent them think them safe.
    const version = versionOf(context, model, fingerprint)
    results.versions.set(model.name, version)
    const rows = results.flushed.get(model.name)?.events ?? 0
    const found = await checkRows(context, model)
    const outcome = { status: 'built', because, rows } as const
    return done(withWarnings(step, outcome, found), { model, fingerprint, version })
  }
  results.start(model.name, because)
  const isNew = !continuesTable(context, model)
  const forgetsSlices = isNew && context.state.slices.some((one) => one.model === model.name)
  const { rows, version, warnings } = await build(context, step, fingerprint, built)
  results.versions.set(model.name, version)
  const outcome = { status: 'built', because, ...(rows === undefined ? {} : { rows }) } as const
  const record = { model, fingerprint, version, slice: step.slice, forgetsSlices }
  return done(withWarnings(step, outcome, warnings), record)
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
  return withWarnings(step, { status: 'unchanged', because: whyUnchanged(model) })
}

function withWarnings(step: Step, outcome: Outcome, found: readonly string[] = []): Outcome {
  const warnings = [...step.warnings, ...found]
  return warnings.length === 0 ? outcome : { ...outcome, warnings }
}
