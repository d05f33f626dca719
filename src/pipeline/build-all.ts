// The selected models in DAG order, several at once. One that fails, and those that read it, keep their last good
// version; the others go on. Each is built on a connection of its own, in a transaction of its own, after all it reads.

import { freshness } from '../compiler/plan.ts'
import type { CompiledProject, EventsModel, Model } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import type { ModelResult } from '../core/progress.ts'
import { hashOf } from '../core/hash.ts'
import type { Connection } from '../duckdb/database.ts'
import {
  build,
  type BuildContext,
  type BuiltModel,
  decideNow,
  noteVersion,
  statementOf,
} from './build.ts'
import { explainFailure, isInterruption, ModelFailure } from './failure.ts'
import { staleInputs } from './freshness.ts'
import type { Ledger } from './ledger.ts'
import { readPositions, recordModel } from './state.ts'

type Outcome = Omit<ModelResult, 'model' | 'ms'>

export interface BuildAllOptions {
  /** One for each model that may be built at a time; among them that of the context. */
  readonly connections: readonly Connection[]
  /** Start no further model after a failure. */
  readonly failFast: boolean
  readonly signal: AbortSignal
}

/** Throws what is no failure of a model, once nothing runs any more. */
export async function buildAll(
  context: BuildContext,
  ledger: Ledger,
  project: CompiledProject,
  options: BuildAllOptions,
): Promise<void> {
  const { connections, failFast, signal } = options
  const segments = await readPositions(context.connection)
  const idle = [...connections]
  const waiting = new Set(context.selected)
  const running = new Map<ModelName, Promise<void>>()
  const start = (model: Model, connection: Connection) => {
    waiting.delete(model.name)
    const segment = segments.get(model.name)?.segment ?? null
    const work = buildOne({ ...context, connection }, ledger, model, segment, signal)
    const finished = work.finally(() => {
      running.delete(model.name)
      idle.push(connection)
    })
    running.set(model.name, finished)
  }
  try {
    while (!signal.aborted && !(failFast && ledger.hasFailed)) {
      for (const name of waiting) {
        const model = project.models.get(name)!
        const isReady = model.dependsOn.every((input) => !waiting.has(input) && !running.has(input))
        const connection = isReady ? idle.shift() : undefined
        if (connection !== undefined) start(model, connection)
        if (idle.length === 0) break
      }
      if (running.size === 0) return
      await Promise.race(running.values())
    }
    if (!signal.aborted) ledger.stopAfterFailure()
  } finally {
    await Promise.allSettled(running.values())
  }
}

async function buildOne(
  context: BuildContext,
  ledger: Ledger,
  model: Model,
  segment: number | null,
  signal: AbortSignal,
): Promise<void> {
  if (ledger.isBlocked(model)) return
  const startedMs = performance.now()
  const ms = () => performance.now() - startedMs
  try {
    const outcome =
      model.kind === 'events'
        ? await finishEvents(context, ledger, model, segment)
        : await buildIfStale(context, ledger, model)
    const warnings = [...staleInputs(model, context.freshness, 'warn'), ...(outcome.warnings ?? [])]
    const warned = warnings.length === 0 ? {} : { warnings }
    ledger.finish({ model: model.name, ...outcome, ...warned, ms: ms() })
  } catch (error) {
    if (isInterruption(error, signal)) return
    const statement = model.kind === 'events' ? null : statementOf(model, context.dir)
    ledger.fail(model.name, explainFailure(error, model, statement), ms())
  }
}

async function buildIfStale(
  context: BuildContext,
  ledger: Ledger,
  model: BuiltModel,
): Promise<Outcome> {
  const [stale] = staleInputs(model, context.freshness, 'error')
  if (stale !== undefined) throw new ModelFailure(stale)
  const { fingerprint, because } = decideNow(context, model, new Set())
  const record = context.state.models.get(model.name)
  if (because === null && record !== undefined) {
    noteVersion(context, model.name, record.version)
    return { status: 'unchanged', because: freshness(model) }
  }
  ledger.start(model.name, because ?? 'never built')
  const built = await build(context, model, fingerprint)
  return { status: 'built', because: because ?? 'never built', ...built }
}

/** The rows came with the flush. The version says which: the definition and the last segment that went in. */
async function finishEvents(
  context: BuildContext,
  ledger: Ledger,
  model: EventsModel,
  segment: number | null,
): Promise<Outcome> {
  const version = hashOf(16, [model.definition, segment])
  const isNew = context.state.models.get(model.name)?.version !== version
  const { because } = decideNow(context, model, new Set(isNew ? [model.name] : []))
  noteVersion(context, model.name, version)
  if (because === null) return { status: 'unchanged', because: freshness(model) }
  const { connection, runId } = context
  await recordModel(connection, model, { fingerprint: version, version, runId })
  const rows = ledger.flushed.get(model.name)?.events ?? 0
  return { status: 'built', because, rows }
}
