// All models in DAG order. One that fails, and those that read it, keep their last good version; the others go on.

import { freshness } from '../compiler/plan.ts'
import type { CompiledProject, EventsModel } from '../core/model.ts'
import type { ModelResult } from '../core/progress.ts'
import {
  build,
  type BuildContext,
  type BuiltModel,
  decideNow,
  noteVersion,
  statementOf,
} from './build.ts'
import { explainFailure, isInterruption } from './failure.ts'
import { hashOf } from './hash.ts'
import type { Ledger } from './ledger.ts'
import { readPositions, recordModel } from './state.ts'

type Outcome = Omit<ModelResult, 'model' | 'ms'>

export async function buildAll(
  context: BuildContext,
  ledger: Ledger,
  project: CompiledProject,
  signal: AbortSignal,
): Promise<void> {
  const segments = await readPositions(context.connection)
  for (const model of project.models.values()) {
    if (signal.aborted) return
    if (ledger.isBlocked(model)) continue
    const startedMs = performance.now()
    const ms = () => performance.now() - startedMs
    try {
      const outcome =
        model.kind === 'events'
          ? await finishEvents(context, ledger, model, segments.get(model.name)?.segment ?? null)
          : await buildIfStale(context, ledger, model)
      ledger.finish({ model: model.name, ...outcome, ms: ms() })
    } catch (error) {
      if (isInterruption(error, signal)) return
      const statement = model.kind === 'events' ? null : statementOf(model, context.dir)
      ledger.fail(model.name, explainFailure(error, model, statement), ms())
    }
  }
}

async function buildIfStale(
  context: BuildContext,
  ledger: Ledger,
  model: BuiltModel,
): Promise<Outcome> {
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
  const version = hashOf(model.definition, segment)
  const isNew = context.state.models.get(model.name)?.version !== version
  const { because } = decideNow(context, model, new Set(isNew ? [model.name] : []))
  noteVersion(context, model.name, version)
  if (because === null) return { status: 'unchanged', because: freshness(model) }
  const { connection, runId } = context
  await recordModel(connection, model, { fingerprint: version, version, runId })
  const rows = ledger.flushed.get(model.name)?.events ?? 0
  return { status: 'built', because, rows }
}
