// The text of a catalog, which is stored next to a manifest. One JSON document, in lines, so that a part of it can be
// taken over without reading it, and read a line at a time:
//
//   {"format":1,"of":"…",                                      `of` identifies what is said of the models
//   "runs":[…],"last_run":{…},"rejected":[…],"states":{…},     what each run changes
//   "snapshot":"…","published_at":"…","run_id":"…",            what was published
//   "sets":[                                                   then a set a line
//   ],"models":[                                               then a model a line
//   ],"sources":[                                              then a table a line
//   ]}
//
// A JSON text has no line break inside of a value, so these lines cannot occur anywhere else.

import {
  CATALOG_FORMAT,
  type Catalog,
  type CatalogModel,
  type CatalogColumn,
  type CatalogModelColumn,
  type CatalogSet,
  type CatalogSource,
} from '../../core/catalog.ts'
import { hashOf } from '../../core/hash.ts'
import type { CompiledProject, FailedModel, Lineage, Model } from '../../core/model.ts'
import { limits } from '../../core/limits.ts'
import { type Meaning, toldMeaning } from '../../core/meaning.ts'
import type { Snapshot, PublishedRelation } from '../../core/snapshot.ts'
import { buildStamp } from '../../files/package.ts'
import type { SnapshotStore, Published } from '../../store/snapshots.ts'
import { NO_RUNS, type PastRuns, type SpokenOf } from './past-runs.ts'
import { knownModels } from '../../compiler/select.ts'
import type { Logger } from '../../core/logger.ts'
import type { CompiledExternal } from '../../core/sources.ts'
import { entitySetName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'

const MODELS = '\n],"models":[\n'
const END = '\n]}\n'

const headOf = (identity: string | null) =>
  `{"format":${CATALOG_FORMAT},"of":${JSON.stringify(identity)},\n`

/** Identifies what is said of the models; null where that is not known. */
const catalogIdentity = ({ identity }: CompiledProject): string | null =>
  identity === undefined ? null : hashOf(32, [identity, buildStamp()])

/** What is said of runs; null where the text is not of this form. */
export function pastRunsOf(text: string): PastRuns | null {
  const [head = '', runs = ''] = text.split('\n', 2)
  if (!head.startsWith(`{"format":${CATALOG_FORMAT},`) || !text.endsWith(END)) return null
  try {
    return JSON.parse(`{${runs.replace(/,$/, '')}}`) as PastRuns
  } catch {
    return null
  }
}

/**
 * `identity` is equal only for projects of which the same is said; null where that is not known. `before` is another
 * catalog, from which what is said of the models is taken where it is the same.
 */
export function printCatalog(
  project: CompiledProject,
  snapshot: Snapshot,
  runs: PastRuns,
  { identity, before }: { readonly identity: string | null; readonly before: string | null },
): string {
  const head = headOf(identity)
  const start = `${head}${JSON.stringify(runs).slice(1, -1)},\n${setsOf(snapshot)}`
  if (identity !== null && before?.startsWith(head) === true && before.endsWith(END))
    return start + before.slice(before.indexOf(MODELS))
  const room = limits.catalogBytes - Buffer.byteLength(start)
  for (const detail of DETAILS) {
    const models = describeModels(project, detail)
    const end = `${MODELS}${linesOf(models)}\n],"sources":[\n${linesOf(describeSources(project))}${END}`
    if (Buffer.byteLength(end) <= room) return start + end
  }
  return `${start}${MODELS}\n],"sources":[\n${END}`
}

/**
 * The catalog of a project as it is now, with what is published and what runs did as far as that is known: for
 * `eider docs`. `removed` are shown next to the models of the project. Nothing of the warehouse is opened.
 */
export async function describeState(
  name: string,
  project: CompiledProject,
  snapshots: Pick<SnapshotStore, 'current' | 'catalog'>,
  removed: readonly CatalogModel[] = [],
): Promise<Catalog> {
  const snapshot = await snapshots.current()
  const text = snapshot === null ? null : await snapshots.catalog(snapshot.id)
  const runs = (text === null ? null : pastRunsOf(text)) ?? NO_RUNS
  return {
    format: CATALOG_FORMAT,
    project: name,
    shows: 'project',
    is_whole: true,
    snapshot: snapshot?.id ?? '',
    published_at: snapshot?.publishedAt.toISOString() ?? '',
    run_id: snapshot?.runId ?? '',
    sets: snapshot?.relations.map(describeSet) ?? [],
    models: [...describeModels(project), ...removed],
    sources: describeSources(project),
    ...runs,
  }
}

function setsOf({ id, publishedAt, runId, relations }: Snapshot): string {
  const of = { snapshot: id, published_at: publishedAt.toISOString(), run_id: runId }
  return `${JSON.stringify(of).slice(1, -1)},\n"sets":[\n${linesOf(relations.map(describeSet))}`
}

const linesOf = (objects: readonly object[]) =>
  objects.map((object) => JSON.stringify(object)).join(',\n')

interface CatalogedRun {
  readonly snapshots: SnapshotStore
  readonly project: CompiledProject
  readonly published: Pick<Published, 'snapshot' | 'before' | 'changed'>
  readonly isIdle: boolean
  /** What is said of runs now, this one included; `before` is what the last catalog said, null for nothing. */
  readonly readRuns: (before: PastRuns | null, models: SpokenOf) => Promise<PastRuns>
  readonly logger: Logger
}

/**
 * Writes the catalog of what is published now: the run that published it does so, and later ones that change nothing, since
 * they too are in it. The page of the service is not worth a failed run: without a catalog it shows what the manifest tells.
 */
export async function catalogRun(run: CatalogedRun): Promise<void> {
  const { snapshots, published, isIdle, logger } = run
  const isSame = !published.changed && isIdle && !snapshots.catalogsIdleRuns
  try {
    if (isSame && (await snapshots.catalog(published.snapshot.id)) !== null) return
    await writeCatalog(run)
  } catch (error) {
    logger.warn('catalog-not-written', { error: String(error) })
  }
}

async function writeCatalog({ snapshots, project, published, readRuns }: CatalogedRun) {
  const { snapshot } = published
  const before = published.before === null ? null : await snapshots.catalog(published.before.id)
  const models = knownModels(project)
  const runs = await readRuns(before === null ? null : pastRunsOf(before), models)
  const identity = catalogIdentity(project)
  const text = printCatalog(project, snapshot, runs, { identity, before })
  await snapshots.writeCatalog(snapshot.id, text)
}

/** How much is said of models, from all to least. */
const DETAILS = ['sql', 'lineage', 'columns', 'names'] as const
type Detail = (typeof DETAILS)[number]

function describeSet(relation: PublishedRelation): CatalogSet {
  const { model, description, rows, bytes, key, columns, meaning } = relation
  const name = entitySetName(model)
  const described = columns.map(describeColumn)
  return { name, model, description, rows, bytes, key, columns: described, ...meantBy(meaning) }
}

function describeModels(project: CompiledProject, detail: Detail = 'sql'): readonly CatalogModel[] {
  const has = (part: Detail) => DETAILS.indexOf(part) >= DETAILS.indexOf(detail)
  const lineage = has('lineage') ? project.lineage() : new Map<string, Lineage>()
  return Array.from(knownModels(project).values(), (model) => {
    const described = describeModel(model)
    const of = lineage.get(model.name) ?? []
    return {
      ...described,
      columns: has('columns') ? columnsOf(model, of) : [],
      ...(has('columns') && !('mistakes' in model) ? meantBy(model.meaning) : {}),
      sql: has('sql') ? described.sql : null,
    }
  })
}

const describeSources = ({ external }: CompiledProject): readonly CatalogSource[] =>
  (external?.tables ?? []).map(describeSource)

/** A model that does not compile is described by what its file says all the same. */
function describeModel(model: Model | FailedModel): CatalogModel {
  const { name, kind, tags, dependsOn, sources, source } = model
  const compiled = 'mistakes' in model ? null : model
  const checks = (compiled?.checks ?? []).map(({ severity, text, on }) => ({
    severity,
    text: on === undefined ? text : `${on}: ${text}`,
  }))
  return {
    name,
    kind,
    description: compiled?.description ?? null,
    owner: compiled?.owner ?? null,
    tags,
    set: isExposed(model) ? entitySetName(name) : null,
    depends_on: dependsOn,
    sources,
    columns: [],
    checks,
    ...(compiled?.places.contract === undefined ? {} : { contract: true }),
    path: source.path,
    // The text of a seed is data.
    sql: kind === 'seed' ? null : source.text,
  }
}

const isExposed = (model: Model | FailedModel): boolean =>
  'mistakes' in model ? model.isExposed : model.expose !== null

function columnsOf(model: Model | FailedModel, lineage: Lineage): readonly CatalogModelColumn[] {
  if ('mistakes' in model) return []
  return model.columns.map((column, i) => ({
    ...describeColumn(column),
    lineage: lineage[i] ?? null,
  }))
}

const describeColumn = (column: Column): CatalogColumn => ({ ...column })

const meantBy = (meaning: Meaning | undefined): Pick<CatalogSet, 'meaning'> =>
  meaning === undefined ? {} : { meaning: toldMeaning(meaning) }

const describeSource = ({ name, columns }: CompiledExternal): CatalogSource => ({
  name,
  columns: columns.map(describeColumn),
})
