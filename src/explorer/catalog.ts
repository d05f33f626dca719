// GET /catalog.json: what publishing wrote next to the manifest, as much of it as is to be shown.
//
// The text is passed on as it is with `project`, and rebuilt with `sets`: in slices, since that of a thousand
// wide tables has megabytes. Both stay in memory until there is another.

import { createHash } from 'node:crypto'
import {
  type Catalog,
  CATALOG_FORMAT,
  type CatalogModel,
  type CatalogModelColumn,
  type CatalogOrigin,
  type CatalogSet,
  type CatalogState,
} from '../core/catalog.ts'
import { limits } from '../core/limits.ts'
import { visibleMeaning, toldMeaning } from '../core/meaning.ts'
import { entitySetName } from '../core/names.ts'
import type { Snapshot } from '../core/snapshot.ts'
import { resultInSlices } from '../core/time-slices.ts'
import { keepCoded } from '../http/content-coding.ts'
import type { SidePage } from '../http/side-pages.ts'

export interface CatalogOptions {
  readonly project: string
  readonly shows: Catalog['shows']
  /** What was written with the state of that id; null where nothing was. */
  readonly find: (id: string) => Promise<StoredText | null>
}

export interface StoredText {
  /** Changes with the text. */
  readonly mark: string
  readonly bytes: number
  read(): Promise<Buffer>
}

export function createCatalogs(options: CatalogOptions) {
  let made: { readonly mark: string; readonly page: Promise<SidePage> } | null = null
  return async (snapshot: Snapshot, part = ''): Promise<SidePage> => {
    // What the run wrote tells of all sets.
    if (part !== '') {
      const own = { ...options, shows: 'sets' } as const
      return pageOf(own, `${snapshot.id} ${part}`, await print(own, snapshot, null))
    }
    const found = await options.find(snapshot.id)
    const text = found !== null && found.bytes <= limits.catalogBytes ? found : null
    const mark = text?.mark ?? `${snapshot.id} alone`
    // One at a time is made for all who ask meanwhile.
    if (made?.mark !== mark) {
      const page = print(options, snapshot, text).then((body) => pageOf(options, mark, body))
      made = { mark, page }
      page.catch(() => {
        if (made?.page === page) made = null
      })
    }
    return await made.page
  }
}

/** What the pages say, for other readers than the page. */
export function createCatalogReader(options: CatalogOptions) {
  const pageFor = createCatalogs(options)
  const read = new WeakMap<Buffer, Catalog>()
  return async (snapshot: Snapshot, part: string): Promise<Catalog> => {
    const { body } = await pageFor(snapshot, part)
    const catalog = read.get(body) ?? (JSON.parse(body.toString('utf8')) as Catalog)
    read.set(body, catalog)
    return catalog
  }
}

function pageOf({ project, shows }: CatalogOptions, mark: string, body: Buffer): SidePage {
  const of = JSON.stringify([project, shows, mark])
  const hash = createHash('sha256').update(of).digest('base64url').slice(0, 22)
  const headers = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-cache',
    ETag: `W/"${hash}"`,
  }
  return { status: 200, headers, body: keepCoded(body) }
}

async function print(
  options: CatalogOptions,
  snapshot: Snapshot,
  text: StoredText | null,
): Promise<Buffer> {
  const whole = await text?.read().catch(() => null)
  if (whole == null || !isWhole(whole)) {
    const start = startOf(options, false)
    return Buffer.from(start + (await resultInSlices(printAlone(snapshot))))
  }
  const start = startOf(options, true)
  if (options.shows === 'project') return Buffer.concat([Buffer.from(start), whole.subarray(1)])
  return Buffer.from(start + (await resultInSlices(printExposed(whole.toString('utf8'), snapshot))))
}

/** Whether the text is as the run wrote it: a power cut may have left half of it. */
function isWhole(text: Buffer): boolean {
  const start = Buffer.from(`{"format":${CATALOG_FORMAT},`)
  return text.subarray(0, start.length).equals(start) && text.subarray(-4).toString() === '\n]}\n'
}

function startOf({ project, shows }: CatalogOptions, isOfRun: boolean): string {
  const own: Pick<Catalog, 'project' | 'shows' | 'is_whole'> = { project, shows, is_whole: isOfRun }
  return `${JSON.stringify(own).slice(0, -1)},`
}

/** What is not known of a model, or not for strangers. */
const NO_FACTS = { owner: null, sources: [], checks: [], path: null, sql: null }
const NO_RUNS = { sources: [], runs: [], last_run: null, rejected: [] }

/** What a manifest tells: the sets, of models of which nothing else is known. */
function* printAlone({ id, publishedAt, runId, relations }: Snapshot): Generator<void, string> {
  const sets: string[] = []
  const models: string[] = []
  for (const { model, description, rows, bytes, key, columns, meaning } of relations) {
    const name = entitySetName(model)
    const meant = meaning && { meaning: toldMeaning(visibleMeaning(columns, meaning)) }
    const set: CatalogSet = { name, model, description, rows, bytes, key, columns, ...meant }
    sets.push(JSON.stringify(set))
    const known: CatalogModel = {
      ...NO_FACTS,
      name: model,
      kind: null,
      description,
      tags: [],
      set: name,
      depends_on: [],
      columns: columns.map((column) => ({ ...column, lineage: null })),
    }
    models.push(JSON.stringify(known))
    yield
  }
  const of: Omit<Catalog, 'project' | 'shows' | 'is_whole' | 'sets' | 'models'> = {
    ...NO_RUNS,
    format: CATALOG_FORMAT,
    snapshot: id,
    published_at: publishedAt.toISOString(),
    run_id: runId,
    states: {},
  }
  return `${JSON.stringify(of).slice(1, -1)},"sets":[${sets.join()}],"models":[${models.join()}]}\n`
}

/** `text` in the lines that src/pipeline/catalog/catalog-text.ts describes. */
function* printExposed(text: string, { relations }: Snapshot): Generator<void, string> {
  const names = new Set<string>(relations.map(({ model }) => model))
  const endOfRuns = text.indexOf('\n', text.indexOf('\n') + 1)
  const runs = text.slice(text.indexOf('\n') + 1, endOfRuns).replace(/,$/, '')
  const { states } = JSON.parse(`{${runs}}`) as Pick<Catalog, 'states'>
  const startOfModels = text.indexOf('\n],"models":[\n')
  const models: CatalogModel[] = []
  for (const line of linesFrom(text, text.indexOf('\n', startOfModels + 1) + 1)) {
    if (!line.startsWith('{')) break
    models.push(JSON.parse(line.replace(/,$/, '')) as CatalogModel)
    yield
  }
  const shown: string[] = []
  for (const model of exposedModels(models, names)) {
    shown.push(JSON.stringify(model))
    yield
  }
  const of: Pick<Catalog, 'format' | 'states' | keyof typeof NO_RUNS> = {
    ...NO_RUNS,
    format: CATALOG_FORMAT,
    states: exposedStates(states, names),
  }
  const published = text.slice(endOfRuns + 1, startOfModels)
  return `${JSON.stringify(of).slice(1, -1)},${published}],"models":[${shown.join()}]}\n`
}

function* linesFrom(text: string, start: number): Generator<string, void> {
  for (let from = start, to: number; (to = text.indexOf('\n', from)) >= 0; from = to + 1)
    yield text.slice(from, to)
}

// A catalog for strangers: nothing of models that are not exposed, and neither paths, owners, SQL nor runs. Where values
// come through models that are left out, they come from the exposed ones before those.

function* exposedModels(
  models: readonly CatalogModel[],
  sets: ReadonlySet<string>,
): Generator<CatalogModel, void> {
  const byName = new Map(models.map((model) => [model.name, model]))
  const above = createDependencies(byName, sets)
  const origins = createOrigins(byName, sets)
  for (const model of models) {
    const depends = above(model.name)
    if (!sets.has(model.name)) continue
    const { name, kind, description, tags, set, contract } = model
    const columns = model.columns.map((column) => ({ ...column, lineage: origins(column) }))
    const promised = contract === undefined ? {} : { contract }
    const shown = { name, kind, description, tags, set, depends_on: [...depends], columns }
    yield { ...NO_FACTS, ...shown, ...promised }
  }
}

function exposedStates(states: Catalog['states'], sets: ReadonlySet<string>): Catalog['states'] {
  const shown = Object.entries(states).filter(([name]) => sets.has(name))
  const wordless = ([name, state]: readonly [string, CatalogState]) =>
    [name, { ...state, because: '', warnings: [] }] as const
  return Object.fromEntries(shown.map(wordless))
}

/** The exposed models that a model reads, itself or by way of others. Ask in the order of the catalog. */
function createDependencies(byName: ReadonlyMap<string, CatalogModel>, sets: ReadonlySet<string>) {
  const known = new Map<string, ReadonlySet<string>>()
  return (name: string): ReadonlySet<string> => {
    const found = new Set<string>()
    for (const read of byName.get(name)?.depends_on ?? [])
      if (sets.has(read)) found.add(read)
      else for (const one of known.get(read) ?? []) found.add(one)
    known.set(name, found)
    return found
  }
}

function createOrigins(byName: ReadonlyMap<string, CatalogModel>, sets: ReadonlySet<string>) {
  const known = new Map<string, readonly CatalogOrigin[] | null>()
  const columns = new Map<string, ReadonlyMap<string, CatalogModelColumn>>()

  function columnOf({ model, column }: CatalogOrigin): CatalogModelColumn | undefined {
    const found =
      columns.get(model) ??
      new Map((byName.get(model)?.columns ?? []).map((one) => [one.name.toLowerCase(), one]))
    columns.set(model, found)
    return found.get(column.toLowerCase())
  }

  function through(origin: CatalogOrigin): readonly CatalogOrigin[] | null {
    if (sets.has(origin.model)) return [origin]
    const key = `${origin.model}.${origin.column}`
    const cached = known.get(key)
    if (cached !== undefined) return cached
    const column = columnOf(origin)
    // A table of a source, from which no exposed model has its values.
    const found = column === undefined ? [] : originsOf(column)
    known.set(key, found)
    return found
  }

  function originsOf({ lineage }: CatalogModelColumn): readonly CatalogOrigin[] | null {
    if (lineage === null) return null
    const found = new Map<string, CatalogOrigin>()
    for (const origin of lineage) {
      const all = through(origin)
      if (all === null) return null
      for (const one of all) found.set(`${one.model}.${one.column}`, one)
    }
    return [...found.values()]
  }

  return originsOf
}
