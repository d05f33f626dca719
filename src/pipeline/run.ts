// A run: lease, open, flush, build, publish, record.

import { mistakesOfNoModel } from '../compiler/mistakes.ts'
import { knownModels, select } from '../compiler/select.ts'
import type { ModelName } from '../core/names.ts'
import type { Sql } from '../core/sql.ts'
import type { Connection, Database } from '../duckdb/database.ts'
import type { Published } from '../store/snapshots.ts'
import { describeResults, writeArtifacts } from './artifacts.ts'
import { searchPath } from './borrow/borrow.ts'
import { sampleSources } from './borrow/sample-rows.ts'
import { buildAll, replaceMacros } from './build/build-all.ts'
import { findOldValues } from './build/old-rows.ts'
import { refuseLateValues } from './build/late-values.ts'
import { relationType } from './build/materialize/relation.ts'
import { countByHand, type LeftAlone } from './by-hand.ts'
import { warnIfOlder } from './older-than-published.ts'
import { catalogRun } from './catalog/catalog-text.ts'
import { watchEngine } from './engine-use.ts'
import { readPastRuns } from './catalog/past-runs.ts'
import { explainFailure, isInterruption, ModelFailure, toEnvironmentError } from './failure.ts'
import { flushEvents } from './flush/flush-events.ts'
import { interruptOnAbort } from './interrupt.ts'
import { planSteps, uncompiledSteps } from './plan/steps.ts'
import { ClientGuard } from './guard-clients.ts'
import { finishRenaming } from './rename/rename-model.ts'
import { keptRelations, readOrphans, refusalToEmpty, refuseToEndHistories } from './orphans.ts'
import { readContext } from './read-context.ts'
import { allModels, isAboutAll, type RunRequest } from './run-request.ts'
import type { RunSummary } from '../core/report/progress.ts'
import { type NoteDraft, RunResults, type WriteNote, wroteLittle } from './results.ts'
import type { RunContext } from './run-context.ts'
import { dropEmptySchemas, readableSources, withSources } from './open-warehouse.ts'
import { publishModels } from './publish.ts'
import { withReaders } from './read-by.ts'
import type { Logger } from '../core/logger.ts'
import type { Step } from '../core/step.ts'

/**
 * Mistakes in models end as results with the status `failed`, never as exceptions, and so does an abort as `skipped`.
 * Throws EnvironmentError: `models-missing`, `warehouse-missing`, `run-locked`, `disk-full`, `warehouse-failed`,
 * `file-failed`, and those of the warehouse and openClaims().
 */
export async function runPipeline(request: RunRequest): Promise<RunSummary> {
  const { store, project, lockWaitMs, signal, progress, ahead } = request
  const results = new RunResults(request.now?.() ?? new Date(), progress, request.startedMs)
  const { runId } = results
  const models = knownModels(project)
  results.selected = new Set(models.keys())
  progress({ event: 'run-started', run_id: runId, models: models.size })
  try {
    const lease = { waitMs: lockWaitMs, signal, name: runId, models: lockedModels(request) }
    await using _lease = ahead ?? (await store.lease.take(lease))
    const refusal = request.isCopy === true ? null : await refusalToEmpty(request)
    if (refusal !== null) throw refusal
    // Others may be left to build.
    const draft = (isAboutAll(request) ? request.draftNote?.() : null) ?? null
    let writeNote: WriteNote | null
    {
      await using warehouse = await openWarehouse(request)
      await using connection = await warehouse.connect()
      await using _watched =
        request.onUse === undefined ? null : watchEngine(await warehouse.connect(), request.onUse)
      const published = await buildAndPublish(request, results, warehouse, connection)
      results.skipRest('interrupted')
      writeNote = await recordRun(request, results, connection, { published, draft })
    }
    await writeNote?.() // of files that nobody writes any more
  } catch (error) {
    if (!isInterruption(error, signal))
      throw toEnvironmentError(store.explain(error), request.memoryLimit)
    results.skipRest('interrupted')
  }
  const summary = results.summarize()
  progress({ event: 'run-finished', run_id: runId, ok: summary.ok, ms: summary.ms })
  return summary
}

async function openWarehouse(request: RunRequest): Promise<Database> {
  const { paths, store, project, ahead } = request
  const warehouse = await (ahead?.takeWarehouse() ?? store.warehouse.open(request))
  const sources = readableSources(project)
  await dropEmptySchemas(warehouse, sources)
  return await withSources(warehouse, { dir: paths.dir, sources })
}

/** null when nothing was reached that could be published. An abort ends it early, without an exception. */
async function buildAndPublish(
  request: RunRequest,
  results: RunResults,
  warehouse: Database,
  connection: Connection,
): Promise<Published | null> {
  const { store, project, signal, modelsAtOnce = 1, failFast = false } = request
  const { range = null, by = null } = request
  const connections = [connection]
  using _interrupts = interruptOnAbort(connections, signal)
  try {
    const context = await begin(request, results, connection)
    if (request.selection?.retry === true && context.chosen.size === 0) return null
    await findOldValues(context)
    const failed = await flushEvents(request, results, context)
    const path = await readElsewhere(context)
    const positions =
      results.flushed.size === 0
        ? context.state.positions
        : await store.state.readPositions(connection)
    const asked = { positions, waiting: new Set<ModelName>(), failed, range, by }
    const steps = await refuseLateValues(context, await planSteps(context, asked))
    await warnOfVersions(context, steps, request.logger)
    const built = steps.filter(({ action }) => action === 'build' || action === 'remove')
    while (connections.length < Math.min(modelsAtOnce, built.length)) {
      const another = await warehouse.connect()
      if (path !== null) await another.run(path)
      connections.push(another)
    }
    await buildAll(context, results, steps, { connections, failFast, positions })
    signal.throwIfAborted() // the next run publishes what this one built
    await markRemoved(context, results)
    if (isAboutAll(request)) results.orphans = await readOrphans(context, project)
    return await publish(request, results, context)
  } catch (error) {
    if (!isInterruption(error, signal)) throw error
    return null
  }
}

/** Returns what notes that the next run has nothing to do; null: it may have. */
async function recordRun(
  { paths, store, project, selection, logger }: RunRequest,
  results: RunResults,
  connection: Connection,
  { published, draft }: { readonly published: Published | null; readonly draft: NoteDraft | null },
): Promise<WriteNote | null> {
  const summary = results.summarize()
  const { fileHashes, failedForRows } = results
  // A retry that found nothing to do is not the last run: the next one still finds what the run before it left.
  const isRecorded = selection?.retry !== true || summary.models.length > 0
  const recordBytes = isRecorded
    ? await store.state.recordRun(connection, summary, describeResults(summary))
    : null
  const isLittle = wroteLittle(summary, knownModels(project).size)
  await store.warehouse.checkpoint(connection, isLittle ? (recordBytes ?? 'much') : 'much')
  const describe = async () => {
    if (published !== null)
      await catalogRun({
        snapshots: store.snapshots,
        project,
        published,
        isIdle: isIdle(summary),
        // In a lake each statement outside a transaction costs two transactions.
        readRuns: (before, models) =>
          connection.transact(() => readPastRuns(connection, before, models)),
        logger,
      })
    await writeArtifacts(paths.target, project, summary, fileHashes)
  }
  if (draft !== null && published !== null)
    return await draft.hold(
      { summary, published, fileHashes, failedForRows },
      connection,
      describe(),
    )
  await describe()
  return null
}

/** null: all. What `state:` selects is not known before the lease is taken, so it is all that it may be. */
function lockedModels(request: RunRequest): readonly ModelName[] | null {
  const { project, selection = allModels } = request
  if (isAboutAll(request) || selection.retry) return null
  const models = knownModels(project)
  const selected = select(models, selection, () => true)
  return selected.size === models.size ? null : [...selected]
}

const isIdle = ({ flushed, models }: RunSummary) =>
  flushed.length === 0 && models.every(({ status }) => status === 'unchanged')

/** Reads what the run has to know, and says which models it is about. */
async function begin(
  request: RunRequest,
  results: RunResults,
  connection: Connection,
): Promise<RunContext> {
  const { paths, store, project, signal, progress, onPhase, onShare, failingRows } = request
  await finishRenaming({ ...store, connection }, paths)
  const known = await store.state.begin(connection, knownModels(project).keys())
  await warnIfOlder(connection, store, request.logger)
  if (request.isCopy !== true) await copyForReaders(request, connection)
  if (project.macrosAreWhole)
    await replaceMacros(store.state, connection, known.macros, project.macros)
  const { runId, startedAt } = results
  const { catalog, state } = known
  const found = { connection, catalog, state, runId, startedAt, signal }
  const read = await readContext(request, found)
  const versionOf = (name: ModelName) => results.versions.get(name) ?? read.versionOf(name)
  const context = { ...read, onPhase, onShare, failingRows, versionOf }
  results.fileHashes = context.fileHashes
  if (request.keepHistory === true) await refuseToEndHistories(context)
  failUncompiled(context, results)
  const { size } = context.chosen
  if (size < knownModels(project).size) progress({ event: 'models-selected', models: size })
  announceBorrowed(request, context)
  return context
}

/** Readers are not worth a failed run: where it cannot be written, they see an older state, or none. */
async function copyForReaders(
  { store, logger, signal }: RunRequest,
  connection: Connection,
): Promise<void> {
  try {
    await store.state.saveForReaders(connection)
  } catch (error) {
    if (isInterruption(error, signal)) throw error
    logger.warn('last-state-not-saved', { error: String(error) })
  }
}

function announceBorrowed({ progress }: RunRequest, { borrowed, sample }: RunContext): void {
  if (borrowed === null && sample === null) return
  const { snapshot } = borrowed ?? {}
  progress({
    event: 'rows-borrowed',
    target: borrowed?.lender ?? null,
    snapshot: snapshot?.id ?? null,
    published_at: snapshot?.publishedAt.toISOString() ?? null,
    models: [...(borrowed?.relations.keys() ?? [])],
    along: [...(borrowed?.along ?? [])],
    sample: sample?.text ?? null,
  })
}

/** From here on names mean what is borrowed and sampled. Returns what further connections have to run first. */
async function readElsewhere(context: RunContext): Promise<Sql | null> {
  const { connection, borrowed, sample, project, catalog } = context
  if (sample !== null) await sampleSources(connection, project, sample)
  if (borrowed === null) return null
  const path = await searchPath(connection, catalog.database, borrowed)
  await connection.run(path)
  return path
}

/** A run of all models also covers files that belong to no model. */
function failUncompiled(context: RunContext, results: RunResults): void {
  const { chosen, project } = context
  const isAll = chosen.size === knownModels(project).size
  results.selected = chosen
  results.projectIsWhole = !isAll || mistakesOfNoModel(project).length === 0
  for (const { model, problem } of uncompiledSteps(context)) {
    const { name: failed, failedBy } = model
    if (problem !== null) results.fail(failed, problem)
    else
      results.finish({
        model: failed,
        status: 'skipped',
        because: `${failedBy} failed`,
        ms: 0,
      })
  }
}

/** Their relations stay in the warehouse: history is not the tool's to destroy. They are no longer published. */
async function markRemoved(
  { store, connection, state, project, runId }: RunContext,
  results: RunResults,
): Promise<void> {
  const isKept = keptRelations(project)
  const gone = [...state.models].filter(
    ([name, { removed }]) => !removed && !project.models.has(name) && !isKept(name),
  )
  const names = gone.map(([name]) => name)
  if (names.length > 0) await store.state.recordRemoved(connection, runId, names)
  for (const name of names) results.remove(name)
}

async function publish(
  request: RunRequest,
  results: RunResults,
  context: RunContext,
): Promise<Published> {
  const { store, progress, now, retention, onShare, onPhase, contractChanges, clients } = request
  const { connection, project, runId } = context
  const startedMs = performance.now()
  const guard = clients && new ClientGuard(connection, clients, project)
  const same: LeftAlone[] = []
  const published = await publishModels({
    connection,
    snapshots: store.snapshots,
    runId,
    models: project.models.values(),
    isKept: keptRelations(project),
    versions: results.versions,
    changed: (model, version) => context.changes.keys.leadingTo(model, version),
    now: now?.() ?? new Date(),
    onShare,
    onPhase,
    ...(retention === undefined ? {} : { retention }),
    guard: guard && ((...set) => guard.check(...set)),
    onSame: (model, relation) => void same.push({ model, relation }),
    onFailure: (model, error) => {
      const readBy = error instanceof ModelFailure ? error.readBy : undefined
      const known = readBy === undefined ? {} : { read_by: readBy }
      results.fail(model.name, explainFailure(store.explain(error), model, null), 0, known)
    },
  })
  const { snapshot, changed, before } = published
  results.snapshot = { id: snapshot.id, changed }
  await guard?.forget(store.state)
  await noteByHand(context, results, same)
  if (!changed) return published
  progress({
    event: 'published',
    snapshot: snapshot.id,
    relations: snapshot.relations.length,
    ms: performance.now() - startedMs,
  })
  if (before === null || contractChanges === undefined) return published
  const found = await contractChanges(before, snapshot)
  const tokensOf = clients?.tokensOf ?? (() => [])
  for (const change of withReaders(found, project, tokensOf, before, snapshot.relations))
    progress({ event: 'contract-change', ...change })
  return published
}

/** What others have changed stays in the table, and no run publishes it by itself. */
async function noteByHand(
  context: RunContext,
  results: RunResults,
  same: readonly LeftAlone[],
): Promise<void> {
  const { borrowed, sample, project, catalog, store } = context
  if (borrowed !== null || sample !== null) return // names mean the rows of others
  const counted = store.hasCountsAtHand ? same : []
  const isCounted = new Set(counted.map(({ model }) => model))
  const events = [...project.models.values()].filter(
    (model) =>
      model.kind === 'events' &&
      !isCounted.has(model) &&
      relationType(catalog, model.name) === 'table',
  )
  const tables = [...counted, ...events.map((model) => ({ model, relation: null }))]
  results.noteByHand(await countByHand(context, tables))
}

/**
 * Two versions of a project that run in turn on one lake build the models again each as it has them. A change is no sign of
 * that; a change back to what another run has replaced is.
 */
async function warnOfVersions(
  { connection, runId, state, store }: RunContext,
  steps: readonly Step[],
  logger: Logger,
): Promise<void> {
  const changed = steps
    .map(({ model }) => model)
    .filter(({ name, definition }) => {
      const record = state.models.get(name)
      return record !== undefined && !record.removed && record.definition !== definition
    })
  const models = await store.state.changedBack(connection, runId, changed)
  if (models.length === 0) return
  logger.warn('versions-in-turn', {
    models: models.length,
    such_as: models[0],
    problem: 'changed back to a definition that another run has replaced',
    hint: 'if nobody has taken a change back, machines run different versions of the project',
  })
}
