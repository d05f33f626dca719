// The flush of a run: every events model has its table, then what is buffered moves in, target by target.

import type { DamagedEvents } from '../../core/report/damaged-events.ts'
import { type KeptCount, keptText } from '../../core/report/planned-changes.ts'
import type { FlushCount } from '../../core/report/progress.ts'
import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { ClaimSource } from '../../buffer/claim-source.ts'
import { knownModels } from '../../compiler/select.ts'
import type { EventsModel, CompiledProject, Kind } from '../../core/model.ts'
import { limits } from '../../core/limits.ts'
import type { Logger } from '../../core/logger.ts'
import { type ModelName, sameName, targetsOf } from '../../core/names.ts'
import { Resources } from '../../core/resources.ts'
import { sql } from '../../core/sql.ts'
import { isConflict } from '../../duckdb/errors.ts'
import { roomMaker } from '../../duckdb/vectors/memory.ts'
import { explainFailure, isInterruption, toEnvironmentError } from '../failure.ts'
import {
  type EarlyFailure,
  type EarlyFailures,
  refuseEvents,
  uncompiledSteps,
} from '../plan/steps.ts'
import { describeOnce, readContext } from '../read-context.ts'
import { RunResults } from '../results.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import type { RunRequest } from '../run-request.ts'
import { recordAdded } from '../changes/added.ts'
import { finishCommitted, FlushedMeanwhile, flushTarget } from './flush.ts'
import { dropBatch, insertRejected, isOf } from './load-batch.ts'
import { isRedefined, readingOf } from './reading.ts'
import { events as eventsTable, isAsListed } from '../build/materialize/events.ts'
import { noteRelation } from '../build/materialize/relation.ts'
import { type FlushPosition, isEdited } from '../../store/state.ts'
import type { Connection } from '../../duckdb/database.ts'
import { interruptOnAbort } from '../interrupt.ts'
import { refusalToEmpty } from '../orphans.ts'

interface Flush {
  readonly context: RunContext
  readonly results: RunResults
  readonly logger: Logger
  /** For a model that cannot be flushed. Throws anything that is not a failure of the model. */
  readonly fail: (model: EventsModel, error: unknown) => void
}

type FlushRequest = Pick<
  RunRequest,
  'openClaims' | 'logger' | 'progress' | 'onFlushStep' | 'onShare'
>

/**
 * Flushes the selected models. Targets without a model keep their events in the buffer. Returns the events models that
 * were rejected, or could not be flushed.
 */
export async function flushEvents(
  request: FlushRequest,
  results: RunResults,
  context: RunContext,
): Promise<EarlyFailures> {
  const { paths, project, selected, signal, store } = context
  const { openClaims, logger } = request
  const failed = new Map<ModelName, EarlyFailure>(await refuseEvents(context))
  for (const [name, { problem }] of failed) results.fail(name, problem)
  const fail = (model: EventsModel, error: unknown) => {
    if (isInterruption(error, signal)) return
    const problem = explainFailure(store.explain(error), model, null)
    failed.set(model.name, { problem })
    results.fail(model.name, problem)
  }
  const flush = { context, results, logger, fail }
  const events = [...project.models.values()]
    .filter((model) => model.kind === 'events')
    .filter(({ name }) => selected.has(name))
  const ready = await prepareTables(
    flush,
    events.filter(({ name }) => !failed.has(name)),
  )
  const isAll = selected.size === project.models.size
  const mayWait = events.length > 0 || (isAll && existsSync(paths.buffer))
  if (openClaims === null || !mayWait || signal.aborted) return failed
  await using resources = new Resources()
  if (store.bufferLease !== null)
    resources.use(await store.bufferLease.take({ waitMs: limits.runLockWaitMs, signal }))
  await using claims = await openClaims()
  await flushClaimed(request, flush, ready, claims)
  const isOfRun = (target: ModelName) => events.some(({ name }) => sameName(name, target))
  results.countDamaged((await claims.damaged()).filter(({ target }) => isAll || isOfRun(target)))
  return failed
}

async function flushClaimed(
  { progress, onFlushStep: onStep, onShare }: FlushRequest,
  { context, results, logger, fail }: Flush,
  ready: readonly EventsModel[],
  claims: ClaimSource,
): Promise<void> {
  const { connection, store, signal, startedAt } = context
  const { flushed: records, tables, state } = store
  const makeRoom = await roomMaker(connection)
  const reported = { logger, signal, progress, onShare, onStep }
  const { changes } = state
  const all = { ...reported, connection, records, changes, tables, makeRoom, claims, startedAt }
  await finishCommitted(all, context.state.acks)
  const targets = await claims.targets()
  const known = [...knownModels(context.project).values()].filter(
    ({ kind }) => kind === 'events' || kind === null,
  )
  for (const target of targets)
    if (!known.some(({ name }) => sameName(name, target)))
      logger.warn('flush-target-without-model', { target })
  for (const model of ready) {
    const { name } = model
    const count = (flushed: FlushCount) => results.countFlushed(name, flushed)
    const formerly = isRedefined(context, model)
    const kept = new Map<string, number>()
    const noteKept = (counts: readonly KeptCount[]) => {
      for (const { column, events } of counts) kept.set(column, (kept.get(column) ?? 0) + events)
    }
    const read = await readingOf(context, model, formerly)
    const deps = { ...all, model: read, count, noteKept, formerly }
    const others = targetsOf(name, targets).filter((target) => target !== name)
    try {
      for (const target of [...others.toSorted(), name])
        await flushUnlessMet(context, (fence) => flushTarget(deps, target, fence.get(target)))
    } catch (error) {
      fail(model, error)
    }
    for (const [column, events] of kept)
      context.changes.warn(
        name,
        `${keptText({ column, events })}; to read it, list "${column}" in the model again`,
      )
  }
}

/**
 * Where another machine has changed the same table meanwhile, nothing of the batch is done, and the fence may have moved:
 * it is read again, and so are the claims.
 */
async function flushUnlessMet(
  { connection, state, store }: RunContext,
  flush: (positions: ReadonlyMap<ModelName, FlushPosition>) => Promise<void>,
): Promise<void> {
  let { positions } = state
  for (let tries = 1; ; tries++)
    try {
      return await flush(positions)
    } catch (error) {
      if (!isMet(error) || tries >= limits.lakeTries) throw error
      positions = await store.state.readPositions(connection)
    }
}

const isMet = (error: unknown) => isConflict(error) || error instanceof FlushedMeanwhile

/** What did not fit the model as it was may fit it as it is. */
async function retryRejected(context: RunContext, model: EventsModel): Promise<number> {
  const { store, connection } = context
  const query = sql`SELECT 1 FROM _eider.rejected_events WHERE ${isOf(model)} LIMIT 1`
  if ((await connection.row(query)) === null) return 0
  const { tables, state } = store
  const target = await tables.written(connection, model.name)
  const loading = { connection, model: await readingOf(context, model, true), tables }
  const events = await recordAdded({ connection, changes: state.changes }, model, target, () =>
    insertRejected(loading),
  )
  await dropBatch(connection)
  return events
}

/** Before anything is claimed. */
async function prepareTables(
  flush: Flush,
  models: readonly EventsModel[],
): Promise<readonly EventsModel[]> {
  const ready: EventsModel[] = []
  for (const model of models) {
    try {
      await prepareUnlessMet(flush, model)
      noteRelation(flush.context, model)
      ready.push(model)
    } catch (error) {
      flush.fail(model, error)
    }
  }
  return ready
}

/** Another machine may make the same table at the same time. */
async function prepareUnlessMet(flush: Flush, model: EventsModel): Promise<void> {
  const { store, connection } = flush.context
  let { context } = flush
  for (let tries = 1; ; tries++)
    try {
      return await prepareTable({ ...flush, context }, model)
    } catch (error) {
      if (!isMet(error) || tries >= limits.lakeTries) throw error
      const { catalog, state } = await store.state.read(connection, [model.name])
      context = { ...context, catalog, state, columnsBefore: describeOnce(catalog) }
    }
}

async function prepareTable(
  { context, results, logger }: Flush,
  model: EventsModel,
): Promise<void> {
  const { connection, runId, store } = context
  // Not all of its tables are there where an older version has made them, and events that come may have to be noted.
  if (store.state.changes.columnsOf(model.name).length > 0)
    await store.state.makeChanges(connection)
  const record = recordOf(context, model)
  const wasEdited = isEdited(record, model)
  const isKnown = record?.kind === 'events' && !wasEdited
  if (isKnown && (await isAsListed(context, model))) return
  const prepare = async () => {
    // Another machine may have made the table since this one looked, and flushed into it.
    const isStale =
      !isKnown && !isDeepStrictEqual(await store.state.readRecord(connection, model.name), record)
    if (isStale) throw new FlushedMeanwhile(`another run has created ${model.name} meanwhile`)
    await eventsTable.build(context, model, 'whole')
    if (isKnown) return 0
    // From here on the table is known as one that holds events, by this definition, also if the flush fails: what is
    // rejected by it is tried again when it changes, also when it becomes again what it was.
    await store.flushed.prepare(connection, model.name)
    await store.state.recordModels(connection, runId, [{ model, fingerprint: '', version: '' }])
    return wasEdited ? await retryRejected(context, model) : 0
  }
  const retried = await store.state.change(connection, prepare)
  if (retried === 0) return
  results.countFlushed(model.name, { events: retried, rejected: 0 })
  logger.info('flush-rejected-retried', { target: model.name, events: retried })
}

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

/**
 * `eider flush`: nothing is built and nothing is published; the next run finds what has come. The selection is of events
 * models. Throws EnvironmentError as runPipeline() does.
 */
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
