// What a run would do, found out without changing anything: `eider plan`.

import type { WaitingSegment } from '../../buffer/claim-source.ts'
import { type Action, decide, freshness, type Situation } from './decide.ts'
import { databasesOf, hashFiles } from '../../compiler/file-hashes.ts'
import { allModels } from '../../compiler/select.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import type { ColumnChange, EventsVerdict, ModelDiff } from '../../core/report/planned-changes.ts'
import type { ProjectPaths } from '../../core/project.ts'
import type { Column } from '../../core/relation.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import { sql } from '../../core/sql.ts'
import { type Catalog, describe, readCatalog } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import { BACKFILL, existsIn, isBackfill } from '../build/build.ts'
import { chooseModels, type RunSelection } from '../choose.ts'
import { type ContractChange, contractChanges, publishedNext } from './contract.ts'
import { type Freshness, readFreshness, sourcesRead, staleInputs } from './source-age.ts'
import { judgeEvents, rejectedFor } from '../flush/judge-events.ts'
import { relationOf, relationType, type WatermarkRange } from '../build/materialize/relation.ts'
import { type Asked, lossesOf, refusalOf } from './refusals.ts'
import { Rehearsal } from './dry-run/dry-run.ts'
import { readCurrentSnapshot } from '../store/snapshots.ts'
import { isFlushed, readStateIfAny, type State } from '../store/state.ts'

export interface PlanOptions {
  readonly connection: Connection
  readonly paths: ProjectPaths
  readonly project: CompiledProject
  readonly selection: RunSelection
  readonly fullRefresh: boolean
  readonly allowEmpty: boolean
  readonly range: WatermarkRange | null
  /** Events models for which events wait. */
  readonly withNewEvents: ReadonlySet<ModelName>
  /** Those events, as files to be read. */
  readonly waitingSegments: (model: ModelName) => Promise<readonly WaitingSegment[]>
  /** Build the models in memory, and compare their rows with what the warehouse holds. */
  readonly diff: boolean
}

export interface RunPlan {
  readonly steps: readonly PlannedStep[]
  readonly contract: readonly ContractChange[]
  /** What is published, and what would be; null where nothing is. */
  readonly snapshots: { readonly now: Snapshot; readonly next: Snapshot } | null
}

export interface PlannedStep {
  readonly model: Model
  /** `skip`: a model that it reads fails. */
  readonly action: Action | 'skip'
  readonly because: string
  /** What would make the model fail, with its place; else null. */
  readonly problem: string | null
  /** One line for each source that it reads and that is getting old. */
  readonly warnings: readonly string[]
  readonly columns: readonly ColumnChange[]
  /** What the run would replace or drop, one line each. */
  readonly losses: readonly string[]
  /** What becomes of the events that wait; null where that was not tried. */
  readonly events: EventsVerdict | null
  /** null without `diff`, and for a model that is not built or fails. */
  readonly diff: ModelDiff | null
}

/** What is known of a project and its warehouse; nothing is changed to learn it. */
export interface Standing {
  readonly catalog: Catalog
  readonly state: State
  readonly fileHashes: ReadonlyMap<string, string>
}

export async function readStanding(
  connection: Connection,
  dir: string,
  project: CompiledProject,
): Promise<Standing> {
  const catalog = await readCatalog(connection)
  const state = await readStateIfAny(connection, catalog, project.models.keys())
  return {
    catalog,
    state,
    fileHashes: await hashFiles(connection, dir, project.models.values(), databasesOf(project)),
  }
}

/** `fullRefresh` and `withNewEvents` as for a run that would start now. */
export function situationOf(
  { catalog, state, fileHashes }: Standing,
  given: Pick<Situation, 'fullRefresh' | 'withNewEvents'>,
): Omit<Situation, 'versions' | 'pending'> {
  const exists = (model: Model) => existsIn(catalog, model)
  return { ...given, states: state.models, fileHashes, exists }
}

/** Throws UsageError for a selector that can never match. Nothing is written but temporary tables. */
export async function planRun(options: PlanOptions): Promise<RunPlan> {
  const { connection, paths, project, selection } = options
  const { models } = project
  const standing = await readStanding(connection, paths.dir, project)
  const chosen = await chooseModels({ connection, ...standing }, allModels(project), selection)
  const selected = new Set([...chosen].filter((name) => models.has(name)))
  const read = sourcesRead(models, selected)
  const tables = (project.external?.tables ?? []).filter(({ name }) => read.has(name))
  const now = withoutFailed(await readCurrentSnapshot(paths.snapshots), project)
  const work: Work = {
    ...options,
    ...standing,
    selected,
    situation: situationOf(standing, options),
    versions: new Map(Array.from(standing.state.models, ([name, { version }]) => [name, version])),
    pending: new Set(),
    failed: new Map(),
    waiting: (model) => unflushed(options, standing.state, model),
    ages: await readFreshness(connection, tables, project.external?.away, new Date()),
    rehearsal: null,
  }
  // What is there now is read first: in a rehearsal the names mean something else.
  const before = new Map<ModelName, Before>()
  const candidates = new Set<ModelName>()
  for (const name of selected) {
    const model = models.get(name)!
    if (reasonOf(work, model, candidates) === null) continue
    candidates.add(name)
    before.set(name, await lookAt(work, model))
  }
  const rehearsal = options.diff ? await Rehearsal.open({ ...work, dir: paths.dir }) : null
  const steps: PlannedStep[] = []
  for (const name of selected)
    steps.push(await planStep({ ...work, rehearsal }, models.get(name)!, before.get(name)))
  const snapshots = now === null ? null : { now, next: publishedNext(now, models, selected) }
  return {
    steps,
    contract: contractChanges(now, models, selected, standing.state.models),
    snapshots,
  }
}

interface Work extends Asked, Omit<PlanOptions, 'selection' | 'diff'> {
  readonly situation: ReturnType<typeof situationOf>
  readonly versions: ReadonlyMap<ModelName, string>
  /** Models that will be built, as far as the plan has come. */
  readonly pending: Set<ModelName>
  /** The failing model that one that fails or is skipped leads back to. */
  readonly failed: Map<ModelName, ModelName>
  readonly waiting: (model: Model) => Promise<readonly WaitingSegment[]>
  /** Of the sources that say when they were loaded. */
  readonly ages: ReadonlyMap<string, Freshness>
  readonly rehearsal: Rehearsal | null
}

/** What can be told of a model from the warehouse alone. */
interface Before {
  readonly problem: string | null
  /** null: there is no relation yet, or one that cannot be read. */
  readonly columns: readonly Column[] | null
  readonly losses: readonly string[]
}

/** Of a model that stays. */
const unread: Before = { problem: null, columns: null, losses: [] }

async function lookAt(work: Work, model: Model): Promise<Before> {
  const problem = await refusalOf(work, model)
  const columns = await columnsNow(work.connection, work.catalog, model)
  return { problem, columns, losses: problem === null ? await lossesOf(work, model) : [] }
}

async function planStep(work: Work, model: Model, before: Before = unread): Promise<PlannedStep> {
  const { pending, failed, rehearsal, ages } = work
  const { name } = model
  const warnings = staleInputs(model, ages, 'warn')
  const nothing = { problem: null, warnings, columns: [], losses: [], events: null, diff: null }
  const root = model.dependsOn
    .map((input) => failed.get(input))
    .find((input) => input !== undefined)
  if (root !== undefined) {
    failed.set(name, root)
    return { model, action: 'skip', because: `${root} fails`, ...nothing }
  }
  const because = reasonOf(work, model, pending)
  const [stale] = staleInputs(model, ages, 'error')
  if (stale !== undefined) {
    failed.set(name, name)
    const reason = because ?? freshness(model)
    return { model, action: 'build', because: reason, ...nothing, problem: stale }
  }
  if (because === null) return { model, action: 'unchanged', because: freshness(model), ...nothing }
  pending.add(name)
  const built = before.problem === null ? await rehearsal?.rehearse(model) : undefined
  if (built?.changed === false) pending.delete(name)
  const problem = before.problem ?? built?.problem ?? null
  if (problem !== null) failed.set(name, name)
  const after = built?.columns ?? model.columns
  const events = rehearsal === null ? await judgeIfChanged(work, model) : (built?.events ?? null)
  return {
    model,
    action: 'build',
    because,
    problem,
    warnings,
    columns: before.columns === null ? [] : columnChanges(model, before.columns, after),
    losses: before.losses,
    events,
    diff: built?.diff ?? null,
  }
}

/** What is published of models that do not compile stays. */
function withoutFailed(published: Snapshot | null, { failed }: CompiledProject): Snapshot | null {
  if (published === null) return null
  const isFailed = ({ model }: { readonly model: ModelName }) => failed.has(model)
  return { ...published, relations: published.relations.filter((item) => !isFailed(item)) }
}

/** As the run decides, as far as it is known what changes before the model; null: it stays. */
function reasonOf(work: Work, model: Model, pending: ReadonlySet<ModelName>): string | null {
  const { situation, versions } = work
  if (isBackfill(work, model)) return BACKFILL
  return decide(model, { ...situation, versions, pending }).because
}

/** A model of events that is new or was edited may refuse what senders were told is accepted. */
async function judgeIfChanged(work: Work, model: Model): Promise<EventsVerdict | null> {
  const { connection, state, withNewEvents, waiting } = work
  if (model.kind !== 'events') return null
  if (state.models.get(model.name)?.definition === model.definition) return null
  const rejectedIn = rejectedFor(model, work)
  if (rejectedIn === null && !withNewEvents.has(model.name)) return null
  return judgeEvents(connection, model, await waiting(model), rejectedIn)
}

/** A segment whose events are committed may lie in the buffer until the next run takes it away. */
async function unflushed(
  { waitingSegments }: PlanOptions,
  { positions }: State,
  { name }: Model,
): Promise<readonly WaitingSegment[]> {
  const isNew = (segment: WaitingSegment) => !isFlushed(positions.get(segment.target), segment)
  return (await waitingSegments(name)).filter(isNew)
}

async function columnsNow(
  connection: Connection,
  catalog: Catalog,
  { name }: Model,
): Promise<readonly Column[] | null> {
  if (relationType(catalog, name) === null) return null
  return describe(connection, sql`FROM ${relationOf(name)}`).catch((error: unknown) => {
    if (error instanceof DatabaseError) return null // a view that its tables have left behind
    throw error
  })
}

function columnChanges(
  { kind }: Model,
  columns: readonly Column[],
  next: readonly Column[],
): readonly ColumnChange[] {
  const before = byName(columns)
  const after = byName(next)
  const changed = [...after].flatMap(([name, { name: column, type: to }]) => {
    const from = before.get(name)?.type ?? null
    return from === to ? [] : [{ column, from, to }]
  })
  // An events table keeps the columns that its model no longer lists.
  const gone = kind === 'events' ? [] : [...before].filter(([name]) => !after.has(name))
  return [...changed, ...gone.map(([, { name, type }]) => ({ column: name, from: type, to: null }))]
}

const byName = (columns: readonly Column[]) =>
  new Map(columns.map((column) => [foldCase(column.name), column]))
