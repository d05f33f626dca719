// `eider publish`: what somebody has changed in a table by hand is published, and what reads it is built again by the next
// run. Nothing is built, so no history ends: the table gets another version, as if a build had written it.

import { EnvironmentError, UsageError } from '../core/failures.ts'
import { hashOf } from '../core/hash.ts'
import { reach, readersOf } from '../compiler/graph.ts'
import { kinds } from '../core/kinds.ts'
import type { Logger } from '../core/logger.ts'
import type { CompiledProject, Model } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import type { TouchedColumn } from '../store/changes.ts'
import { fileOf, type Published, type Retention } from '../store/snapshots.ts'
import { isEdited, type Known } from '../store/state.ts'
import type { Store } from '../store/store.ts'
import { relationType } from './build/materialize/relation.ts'
import { checkKey } from './build/materialize/stage.ts'
import { checksOfTables, judgeRows } from './build/run-checks.ts'
import { catalogRun } from './catalog/catalog-text.ts'
import { readPastRuns } from './catalog/past-runs.ts'
import { followedColumns } from './changes/notes.ts'
import { rangesIn } from './changes/ranges.ts'
import { eventsGone } from './changes/touched.ts'
import { modelHistory } from './history.ts'
import { explainFailure, ModelFailure } from './failure.ts'
import { ClientGuard, type Clients } from './guard-clients.ts'
import { keptRelations } from './orphans.ts'
import { publishModels } from './publish.ts'
import { recordWork, workOn } from './record-work.ts'
import { RunResults } from './results.ts'

interface RepublishRequest {
  readonly opened: Pick<Store, 'state' | 'snapshots' | 'past'> & {
    readonly connection: Connection
  }
  readonly project: CompiledProject
  /** null: all tables that a run has built from the models as they are. */
  readonly names: readonly ModelName[] | null
  readonly retention: Retention
  readonly logger: Logger
  readonly clients: Clients
}

interface Republished extends Published {
  /** Those that have another version now. */
  readonly models: readonly ModelName[]
}

/** Under the lock of a run. Throws UsageError for a model that no run has built as it is, EnvironmentError for its rows. */
export async function republish(request: RepublishRequest): Promise<Republished> {
  const { opened, project, names } = request
  const { connection, state } = opened
  const known = await state.begin(connection, project.models.keys())
  const models = chosenModels(project, known, names)
  const { runId, startedAt: now } = new RunResults(new Date(), () => {})
  const sound: SoundModel[] = []
  for (const model of models) sound.push({ model, warnings: await requireSound(connection, model) })
  const versions = await nextVersions(request, known, sound, { runId, startedAt: now })
  const published = await publishNow({ ...request, versions, runId, now })
  return { ...published, models: models.map(({ name }) => name) }
}

interface PublishRequest extends Omit<RepublishRequest, 'names'> {
  /** The versions of models whose tables have changed. What is published of the others stays. */
  readonly versions: ReadonlyMap<ModelName, string>
  readonly runId: string
  readonly now: Date
}

/** Throws EnvironmentError `not-published`. */
export async function publishNow(request: PublishRequest): Promise<Published> {
  const { opened, project, versions, runId, now, retention, logger } = request
  const { connection, snapshots } = opened
  const guard = new ClientGuard(connection, request.clients, project)
  const published = await publishModels({
    connection,
    snapshots,
    runId,
    models: project.models.values(),
    isKept: keptRelations(project),
    versions,
    now,
    retention,
    guard: (...set) => guard.check(...set),
    onFailure: (model, error) => {
      throw notPublished(explainFailure(error, model, null))
    },
  })
  await guard.forget(opened.state)
  await catalogRun({
    snapshots,
    project,
    published,
    isIdle: false,
    readRuns: (before, of) => connection.transact(() => readPastRuns(connection, before, of)),
    logger,
  })
  return published
}

const BY_HAND = 'changed by hand'

const notPublished = (problem: string): EnvironmentError =>
  new EnvironmentError('not-published', problem, {
    hint: 'nothing was published; correct the rows, and publish again',
  })

interface SoundModel {
  readonly model: Model
  readonly warnings: readonly string[]
}

/** A build checks the rows that it makes; nobody has checked these. Returns a line for each `@warn` that found rows. */
async function requireSound(connection: Connection, model: Model): Promise<readonly string[]> {
  try {
    await checkKey(connection, sql.relation(model.name), model.expose?.key ?? [], 'expose', '')
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error
    throw notPublished(`${model.name}: ${error.message.replace(/; $/, '')}`)
  }
  // Events stay, and are published, even when checks fail.
  if (model.kind === 'events') return []
  const checks = await checksOfTables(connection, model)
  const { problem, warnings } = await judgeRows(connection, { ...model, checks })
  if (problem !== null) throw notPublished(problem)
  return warnings
}

function chosenModels(
  project: CompiledProject,
  known: Known,
  names: readonly ModelName[] | null,
): readonly Model[] {
  const all = [...project.models.values()]
  if (names === null)
    return all.filter(
      (model) => kinds[model.kind].relation === 'table' && problemOf(known, model) === null,
    )
  return names.map((name) => {
    const model = project.models.get(name)!
    const problem = problemOf(known, model)
    if (problem === null) return model
    throw new UsageError(problem, { hint: `build it first: eider run ${name}` })
  })
}

/** Why what is in the warehouse is not what its model says; null: it is. */
function problemOf({ state, catalog }: Known, model: Model): string | null {
  const record = state.models.get(model.name)
  const isThere = relationType(catalog, model.name) === kinds[model.kind].relation
  if (record === undefined || record.removed || record.kind !== model.kind || !isThere)
    return `${model.name} is not in the warehouse yet`
  return isEdited(record, model) ? `${model.name} was edited after it was built` : null
}

/** In one transaction with what says that they are new. */
async function nextVersions(
  request: RepublishRequest,
  known: Known,
  sound: readonly SoundModel[],
  { runId, startedAt }: Pick<RunResults, 'runId' | 'startedAt'>,
): Promise<ReadonlyMap<ModelName, string>> {
  const { connection, state } = request.opened
  const records = sound.map(({ model, warnings }) => {
    const { fingerprint, version } = known.state.models.get(model.name)!
    return { model, warnings, fingerprint, version: hashOf(16, [version, runId]) }
  })
  const models = sound.map(({ model }) => model)
  const followed = models.filter(({ name }) => state.changes.columnsOf(name).length > 0)
  if (followed.length > 0) await state.makeChanges(connection)
  const touched = await touchedByHand(request, known, followed)
  await state.change(connection, async () => {
    await state.recordModels(connection, runId, records)
    for (const { model, version: after } of records) {
      const before = known.state.models.get(model.name)!.version
      await state.changes.record(
        connection,
        model.name,
        { before, after },
        (touched.get(model) ?? []).map((one) => ({ ...one, hasGone: true })),
      )
    }
    const work = []
    for (const { model, warnings } of records) {
      const done = { way: 'publish', because: BY_HAND, warnings } as const
      work.push(await workOn(connection, model.name, model, done))
    }
    await recordWork(connection, { command: 'publish', runId, startedAt, models: work })
    // Who follows events goes by their number: it becomes one that it never was.
    for (const { name, kind } of followed)
      if (kind === 'events')
        await state.changes.noteRemoved(
          connection,
          name,
          (await eventsGone(connection, state.changes, name)) + 1,
        )
  })
  return new Map(records.map(({ model, version }) => [model.name, version]))
}

/**
 * Of tables that are published as their readers have read them: which values the rows have that differ, for those who
 * follow these.
 */
async function touchedByHand(
  { opened, project }: RepublishRequest,
  known: Known,
  models: readonly Model[],
): Promise<ReadonlyMap<Model, readonly TouchedColumn[]>> {
  const { connection, snapshots, past } = opened
  const found = new Map<Model, readonly TouchedColumn[]>()
  const published = await snapshots.current()
  for (const model of models) {
    const { name, expose } = model
    if (expose === null || model.kind === 'events') continue
    const { version } = known.state.models.get(name)!
    const file = fileOf({ model: name, version, exposedKey: expose.key })
    const relation = published?.relations.find((one) => one.file === file)
    if (relation === undefined || relation.columns.length !== model.columns.length) continue
    if (await isReadSince(opened, project, name)) continue
    try {
      const before = (await past.attach(connection, [relation])).get(name)!
      found.set(model, await differingValues(opened, model, before))
    } catch (error) {
      // Then nobody knows what has changed, which is what its readers are told.
      if (!past.isLost(error)) throw error
    }
  }
  return found
}

/** Whether a reader was built after the table: then it may have read what was changed by hand in between. */
async function isReadSince(
  { connection, state }: RepublishRequest['opened'],
  project: CompiledProject,
  name: ModelName,
): Promise<boolean> {
  const lastBuild = async (model: ModelName) => {
    const runs = await modelHistory({ connection, store: { state } }, model, RUNS_LOOKED_AT)
    const run = runs.find(({ status }) => status === 'built') ?? null
    return { run, isUnknown: run === null && runs.length === RUNS_LOOKED_AT }
  }
  const own = (await lastBuild(name)).run
  if (own === null) return true
  for (const reader of reach([name], readersOf(project.models.values()))) {
    if (reader === name) continue
    const { run, isUnknown } = await lastBuild(reader)
    if (isUnknown) return true
    if (run !== null && run.run_id !== own.run_id && run.started_at >= own.started_at) return true
  }
  return false
}

/** Of each model; one that was built before them counts as built by nobody knows whom. */
const RUNS_LOOKED_AT = 100

async function differingValues(
  { connection, ...store }: RepublishRequest['opened'],
  model: Model,
  before: Sql,
): Promise<readonly TouchedColumn[]> {
  const names = sql.join(model.columns.map(({ name }) => sql.ident(name)))
  const was = sql`SELECT ${names} FROM (${before})`
  const is = sql`SELECT ${names} FROM ${sql.relation(model.name)}`
  const other = sql`((${was}) EXCEPT ALL (${is})) UNION ALL ((${is}) EXCEPT ALL (${was}))`
  const touched: TouchedColumn[] = []
  for (const { name: column, type } of followedColumns({ store }, model)) {
    const values = sql`SELECT ${sql.ident(column)} AS v FROM (${other})`
    touched.push({ column, ranges: await rangesIn(connection, values, type) })
  }
  return touched
}
