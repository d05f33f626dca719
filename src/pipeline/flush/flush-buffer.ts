// `eider flush`: what the buffer of this machine holds moves into the tables. Nothing is built and nothing is published;
// the next run finds what has come.

import { knownModels } from '../../compiler/select.ts'
import type { CompiledProject, Kind } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import type { Connection } from '../../duckdb/database.ts'
import { isInterruption, toEnvironmentError } from '../failure.ts'
import { interruptOnAbort } from '../interrupt.ts'
import { uncompiledSteps } from '../plan/steps.ts'
import { readContext } from '../read-context.ts'
import { refusalToEmpty } from '../refuse-loss.ts'
import type { DamagedEvents } from '../../core/report/damaged-events.ts'
import type { FlushCount } from '../../core/report/progress.ts'
import { RunResults } from '../results.ts'
import type { RunRequest } from '../run-request.ts'
import { flushEvents } from './flush-events.ts'

type FlushOptions = Omit<
  RunRequest,
  'fullRefresh' | 'keepHistory' | 'range' | 'modelsAtOnce' | 'failFast' | 'retention'
>

export interface FlushSummary {
  /** No events model failed, and no event has changed on disk. */
  readonly ok: boolean
  readonly ms: number
  readonly flushed: readonly (FlushCount & { readonly model: ModelName })[]
  readonly failed: readonly { readonly model: ModelName; readonly because: string }[]
  readonly damaged: readonly DamagedEvents[]
}

/** The selection is of events models. Throws EnvironmentError as runPipeline() does. */
export async function flushBuffer(options: FlushOptions): Promise<FlushSummary> {
  const { store, lockWaitMs, signal, progress } = options
  const results = new RunResults(options.now?.() ?? new Date(), progress)
  try {
    await using _lease = await store.flushLease.take({ waitMs: lockWaitMs, signal })
    const refusal = await refusalToEmpty(options)
    if (refusal !== null) throw refusal
    await using warehouse = await store.warehouse.open(options)
    await using connection = await warehouse.connect()
    using _interrupts = interruptOnAbort([connection], signal)
    // The lease of a flush is for the buffer too.
    const own = { ...options, store: { ...store, bufferLease: null } }
    await flush({ ...own, project: eventsOf(options.project) }, results, connection)
    await store.warehouse.checkpoint(connection, 'much')
  } catch (error) {
    if (!isInterruption(error, signal)) throw toEnvironmentError(store.explain(error))
  }
  results.selected = results.finished
  const { ok, ms, flushed, models } = results.summarize()
  const failed = models.map(({ model, because }) => ({ model, because }))
  return { ok, ms, flushed, failed, damaged: results.damaged }
}

async function flush(
  options: FlushOptions,
  results: RunResults,
  connection: Connection,
): Promise<void> {
  const { store, project, signal } = options
  const { runId, startedAt } = results
  const { catalog, state } = await store.state.begin(connection, knownModels(project).keys())
  const found = { connection, catalog, state, runId, startedAt, signal }
  const context = await readContext(options, found)
  for (const { model, problem } of uncompiledSteps(context))
    if (problem !== null) results.fail(model.name, problem)
  await flushEvents(options, results, context)
}

/** What else there is has no say in a flush, and need not be looked at. */
function eventsOf(project: CompiledProject): CompiledProject {
  const isEvents = ([, { kind }]: readonly [ModelName, { readonly kind: Kind | null }]) =>
    kind === 'events' || kind === null
  const models = new Map([...project.models].filter(isEvents))
  const failed = new Map([...project.failed].filter(isEvents))
  const { external: _, ...rest } = project
  return { ...rest, models, failed }
}
