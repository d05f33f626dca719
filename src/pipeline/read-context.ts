// Reads what a run or a plan has to know: nothing is changed to learn it.

import { externalsOf, hashFiles } from '../compiler/file-hashes.ts'
import { knownModels } from '../compiler/select.ts'
import { kinds } from '../core/kinds.ts'
import type { CompiledProject, Kind } from '../core/model.ts'
import { foldCase, type ModelName } from '../core/names.ts'
import type { Column } from '../core/relation.ts'
import { sql } from '../core/sql.ts'
import { catalogKey, describe, type EngineCatalog } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { ifRefused } from '../duckdb/errors.ts'
import { borrow, type Borrowed } from './borrow/borrow.ts'
import { modelsWithGaps } from './build/materialize/period-ranges.ts'
import { relationType } from './build/materialize/relation.ts'
import { refuseWrongRange } from './asked-range.ts'
import { ChangeNotes } from './changes/change-notes.ts'
import { chooseModels } from './choose.ts'
import { NO_SOURCES, readSourceAges, sourcesRead } from './plan/source-age.ts'
import { keepsRules } from './rules/rule.ts'
import { nameAt, recordedNames, recordedRenamings } from './rename/recorded-names.ts'
import { partsOnce } from './rules/recorded.ts'
import type { RunContext } from './run-context.ts'
import { allModels, type PlanRequest } from './run-request.ts'
import { STATE_SCHEMA } from '../store/state.ts'

/** Throws UsageError for a selector that can never match, and for a range that is none of a selected model. */
export async function readContext(
  request: PlanRequest,
  found: Pick<RunContext, 'connection' | 'catalog' | 'state' | 'runId' | 'startedAt' | 'signal'>,
): Promise<RunContext> {
  const { paths, store, project, selection = allModels } = request
  const {
    fullRefresh = false,
    allowEmpty = false,
    allowRemoval = false,
    forwardOnly = false,
    range = null,
    by = null,
  } = request
  const { connection, catalog, state, startedAt } = found
  const { models, external } = project
  const lost = await lostTables(request, found)
  const fileHashes = await hashFiles(connection, paths.dir, models.values(), externalsOf(project))
  const known = { connection, state, fileHashes }
  const asked = await chooseModels(known, knownModels(project), selection)
  const borrowed = await borrowFor(request, connection, asked)
  const isChosen = (name: ModelName) => asked.has(name) || borrowed?.along.has(name) === true
  const chosen = new Set([...knownModels(project).keys()].filter(isChosen))
  const selected = new Set([...chosen].filter((name) => models.has(name)))
  if (range !== null) await refuseWrongRange(connection, models, selected, { range, by })
  const read = sourcesRead(models, selected)
  const tables = (external?.tables ?? []).filter(({ name }) => read.has(name))
  const there = borrowed === null ? found : { ...found, ...lent(borrowed, project, found) }
  const context: RunContext = {
    ...there,
    borrowed,
    sample: request.sample ?? null,
    createdIn: borrowed === null ? null : catalog.database,
    paths,
    store,
    project,
    fullRefresh,
    forwardOnly,
    allowEmpty,
    allowRemoval,
    oldRows: new Map(),
    oldValues: new Map(),
    chosen,
    selected,
    fileHashes,
    lost,
    sourceAges: await readSourceAges(connection, tables, external ?? NO_SOURCES, startedAt),
    columnsBefore: describeOnce(catalog),
    versionOf: (name) => there.state.models.get(name)?.version,
    changes: new ChangeNotes(),
    partsBefore: partsOnce(store, ruledIn(models, selected)),
    withGaps: new Set(),
  }
  return { ...context, withGaps: await modelsWithGaps(context) }
}

const ruledIn = (models: CompiledProject['models'], selected: ReadonlySet<ModelName>) =>
  [...models.values()]
    .filter((model) => keepsRules(model) && selected.has(model.name))
    .map(({ name }) => name)

async function borrowFor(
  { lender, project, sample }: PlanRequest,
  connection: Connection,
  chosen: ReadonlySet<ModelName>,
): Promise<Borrowed | null> {
  if (lender === undefined) return null
  return borrow(connection, lender, project, chosen, sample ?? null)
}

/** Borrowed models are there, in the version of the lender. */
function lent(
  { relations, versions }: Borrowed,
  { models }: CompiledProject,
  { catalog, state }: Pick<RunContext, 'catalog' | 'state'>,
): Pick<RunContext, 'catalog' | 'state'> {
  const known = new Map(catalog.relations)
  const records = new Map(state.models)
  for (const name of relations.keys()) {
    const { kind, definition } = models.get(name)!
    known.set(foldCase(name), 'view')
    const version = versions.get(name)!
    records.set(name, { kind, definition, fingerprint: version, version, removed: false })
  }
  return { catalog: { ...catalog, relations: known }, state: { ...state, models: records } }
}

/** What was published tells where the state was lost together with the table. */
async function lostTables(
  { store, project, isCopy }: PlanRequest,
  { connection, catalog, state }: Pick<RunContext, 'connection' | 'catalog' | 'state'>,
): Promise<ReadonlySet<ModelName>> {
  if (isCopy === true) return new Set()
  const missing = [...project.models.values()].filter(
    ({ name }) => relationType(catalog, name) === null,
  )
  const keepsRows = ({ kind }: { readonly kind: Kind }) => kinds[kind].keepsRows
  const [lost, others] = [new Set<ModelName>(), new Set<ModelName>()]
  for (const model of missing) {
    const record = state.models.get(model.name)
    if (record === undefined && keepsRows(model) && model.expose !== null) others.add(model.name)
    if (record?.removed === false && keepsRows(record)) lost.add(model.name)
  }
  const published = others.size === 0 ? null : await store.snapshots.current()
  const served = published?.relations.filter(({ model, rows }) => rows > 0 && others.has(model))
  if (served === undefined || served.length === 0) return lost
  const hasRuns = catalog.relations.has(catalogKey(STATE_SCHEMA, 'runs'))
  const renamings = hasRuns ? await recordedRenamings(connection, await store.state.allRuns()) : []
  for (const { model } of served)
    // Where another one had the name when it was published, that has been renamed since.
    if (nameAt(recordedNames(renamings, model), published!.publishedAt) !== null) lost.add(model)
  return lost
}

/** What could not be read is read again. */
export function describeOnce(catalog: EngineCatalog): RunContext['columnsBefore'] {
  const known = new Map<ModelName, readonly Column[] | null>()
  return async (connection, name) => {
    const before = known.get(name)
    if (before !== undefined) return before
    const columns = await describeIfAny(connection, catalog, name)
    known.set(name, columns)
    return columns
  }
}

async function describeIfAny(
  connection: Connection,
  { database, relations, columns }: EngineCatalog,
  name: ModelName,
): Promise<readonly Column[] | null> {
  const type = relations.get(foldCase(name))
  if (type === undefined) return null
  const known = type === 'table' ? columns?.get(foldCase(name)) : undefined
  if (known !== undefined) return known
  const described = describe(connection, sql`FROM ${sql.relation(name, database)}`)
  return type === 'view' ? ifRefused(described, () => null) : described
}
