// Small models share a transaction: a commit costs several times what one of them does. A group is what one connection
// finds to build within limits.groupMs, each model after those that it reads; all of it is committed, with the state, or
// nothing. When anything in it fails, each of its models is built in a transaction of its own, so that a failure hits only
// the model at fault, and a long model holds those before it back for no longer than limits.groupHeldMs.

import { freshness } from '../plan/decide.ts'
import { hashOf } from '../../core/hash.ts'
import { limits } from '../../core/limits.ts'
import type { Model } from '../../core/model.ts'
import { type ModelName, targetsOf } from '../../core/names.ts'
import type { ModelResult } from '../../core/report/progress.ts'
import {
  build,
  type BuildContext,
  decideNow,
  noteBuilt,
  noteVersion,
  statementOf,
} from './build.ts'
import { explainFailure, isInterruption, ModelFailure } from '../failure.ts'
import { staleInputs } from '../plan/source-age.ts'
import { interruptOnAbort } from '../interrupt.ts'
import type { RunResults } from '../results.ts'
import { type FlushPosition, type NewRecord, recordModels } from '../store/state.ts'

export interface Work {
  readonly context: BuildContext
  readonly results: RunResults
  /** The last segment that went into each events model. */
  readonly positions: ReadonlyMap<ModelName, FlushPosition>
  readonly signal: AbortSignal
  /** True when no further model is to be started. */
  readonly isStopped: () => boolean
  /** The next model to build whose inputs were finished when the group began, or are in it. */
  readonly take: (group: ReadonlySet<ModelName>) => Model | null
}

type Outcome = Omit<ModelResult, 'model' | 'ms'>

/** A model whose rows stand and are checked, in a transaction that is still open. */
interface Done {
  readonly model: Model
  readonly outcome: Outcome
  /** null for a model that is left as it is. */
  readonly record: NewRecord | null
  readonly ms: number
}

/** True for a model that needs no transaction: it was skipped, its source is too old, or nothing has changed. */
export function settle(
  work: Pick<Work, 'context' | 'results' | 'positions'>,
  model: Model,
): boolean {
  const { context, results } = work
  if (results.isBlocked(model)) return true
  const startedMs = performance.now()
  try {
    if (decideOne(work, model).because !== null) return false
    const outcome = leaveAsItIs(context, model)
    results.finish({ model: model.name, ...outcome, ms: performance.now() - startedMs })
  } catch (error) {
    results.fail(model.name, explainFailure(error, model, null), performance.now() - startedMs)
  }
  return true
}

/** Builds `first` and those that join it on the connection of the context. Throws what is no failure of a model. */
export async function buildGroup(work: Work, first: Model): Promise<void> {
  const { context, results, signal } = work
  const startedMs = performance.now()
  const group = [first]
  const names = new Set([first.name])
  const next = () => {
    if (performance.now() - startedMs > limits.groupMs) return null
    const model = work.take(names)
    if (model !== null) {
      group.push(model)
      names.add(model.name)
    }
    return model
  }
  try {
    await buildTogether(work, first, next)
  } catch (error) {
    for (const name of names) context.versions.delete(name)
    if (isInterruption(error, signal)) return
    if (group.length > 1) return await buildOneByOne(work, group)
    const statement = first.kind === 'events' ? null : statementOf(first, context.dir)
    const because = explainFailure(error, first, statement, context.selected)
    results.fail(first.name, because, performance.now() - startedMs)
  }
}

async function buildOneByOne(work: Work, group: readonly Model[]): Promise<void> {
  for (const model of group)
    if (!work.isStopped() && !settle(work, model))
      await buildGroup({ ...work, take: () => null }, model)
}

/** When it throws, nothing has changed. */
async function buildTogether(work: Work, first: Model, next: () => Model | null): Promise<void> {
  const { context, results } = work
  const { connection, runId } = context
  const group: Done[] = []
  let builtMs = 0
  await connection.transact(async () => {
    group.push(await buildOne(work, first))
    {
      using _held = interruptOnAbort([connection], AbortSignal.timeout(limits.groupHeldMs))
      for (let model = next(); model !== null; model = next())
        if (!results.isBlocked(model)) group.push(await buildOne(work, model))
    }
    builtMs = performance.now()
    await recordModels(
      connection,
      runId,
      group.flatMap(({ record }) => record ?? []),
    )
  })
  const shareMs = (performance.now() - builtMs) / group.length
  for (const { model, outcome, record, ms } of group) {
    if (record !== null) noteBuilt(context, model)
    results.finish({ model: model.name, ...outcome, ms: ms + (record === null ? 0 : shareMs) })
  }
}

async function buildOne(work: Work, model: Model): Promise<Done> {
  const { context, results } = work
  const startedMs = performance.now()
  const done = (outcome: Outcome, record: NewRecord | null): Done => {
    return { model, outcome, record, ms: performance.now() - startedMs }
  }
  const { fingerprint, because } = decideOne(work, model)
  if (because === null) return done(leaveAsItIs(context, model), null)
  if (model.kind === 'events') {
    // The rows came with the flush.
    noteVersion(context, model.name, fingerprint)
    const rows = results.flushed.get(model.name)?.events ?? 0
    const outcome = { status: 'built', because, rows } as const
    return done(withWarnings(context, model, outcome), { model, fingerprint, version: fingerprint })
  }
  results.start(model.name, because)
  const { rows, version, warnings } = await build(context, model, fingerprint)
  noteVersion(context, model.name, version)
  const outcome = { status: 'built', because, ...(rows === undefined ? {} : { rows }) } as const
  return done(withWarnings(context, model, outcome, warnings), { model, fingerprint, version })
}

/**
 * Throws ModelFailure for a model that reads a source that is too old. The version of an events model says which rows it
 * has: the definition and the last segments that went in, of each spelling that the model has had.
 */
function decideOne(
  { context, positions }: Pick<Work, 'context' | 'positions'>,
  model: Model,
): { readonly fingerprint: string; readonly because: string | null } {
  const [stale] = staleInputs(model, context.freshness, 'error')
  if (stale !== undefined) throw new ModelFailure(stale)
  if (model.kind !== 'events') return decideNow(context, model, new Set())
  const last = targetsOf(model.name, positions.keys()).map((target) =>
    [target, ...[...positions.get(target)!].flat()].join(),
  )
  const fingerprint = hashOf(16, [model.definition, last.join(';')])
  const isNew = context.state.models.get(model.name)?.version !== fingerprint
  const { because } = decideNow(context, model, new Set(isNew ? [model.name] : []))
  return { fingerprint, because }
}

function leaveAsItIs(context: BuildContext, model: Model): Outcome {
  const record = context.state.models.get(model.name)
  if (record === undefined) throw new Error(`${model.name} was never built`)
  noteVersion(context, model.name, record.version)
  return withWarnings(context, model, { status: 'unchanged', because: freshness(model) })
}

function withWarnings(
  { freshness }: BuildContext,
  model: Model,
  outcome: Outcome,
  found: readonly string[] = [],
): Outcome {
  const warnings = [...staleInputs(model, freshness, 'warn'), ...found]
  return warnings.length === 0 ? outcome : { ...outcome, warnings }
}
