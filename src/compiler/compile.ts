// Compiles a project: files to models with names resolved, columns typed, and an order to build them in.
//
// Each step continues with what earlier steps understood, so that one run reports all mistakes. A model with a mistake
// is still known by name; those that read it are left out and not blamed.

import { type Diagnostic, DiagnosticsError, diagnostic } from '../core/diagnostics.ts'
import type { CompiledExternal } from '../core/sources.ts'
import type { CompiledProject, Model } from '../core/model.ts'
import { type ModelName, foldCase } from '../core/names.ts'
import type { ProjectFiles, SeedFile } from '../core/project.ts'
import type { Column } from '../core/relation.ts'
import type { Variables } from '../core/variables.ts'
import { type Connection, Database } from '../duckdb/database.ts'
import { bindAll } from './bind/bind.ts'
import { checkEntitySets } from './exposure.ts'
import { cycleDiagnostic } from './cycle.ts'
import type { Draft, DraftContext } from './bind/draft.ts'
import { draftEvents } from './bind/draft-events.ts'
import { draftQuery } from './bind/draft-query.ts'
import { draftSeed, type KnownSeed, readSeed } from './bind/draft-seed.ts'
import { checksOfSources, withSourceChecks } from './checks/source-checks.ts'
import {
  mistakesInFileCheck,
  placeFileChecks,
  resolveFileChecks,
  withFileChecks,
} from './checks/file-checks.ts'
import { failedModels, Mistakes, type NamedFile, type Understanding } from './mistakes.ts'
import { orderOf } from './graph.ts'
import { closeEngine, mustCloseEngine } from './sources/engine-reach.ts'
import { attachKnownSources } from './sources/known-sources.ts'
import { mentionsIn } from './lineage/mentions.ts'
import { lineageOfAll } from './lineage/query.ts'
import { createMacros, type Macros } from './sql/macros.ts'
import { type CompiledUnits, draftKept, type KeptModels, type ModelUnit } from './kept-models.ts'
import { type ParsedEvents, type ParsedModel, parseModelFile } from './model-file.ts'
import { type ResolvedQuery, resolveQueries } from './resolve.ts'
import { Told } from './told.ts'

const NO_VARIABLES: Variables = new Map()
const NO_MODELS: KeptModels = new Map()

export interface CompileOptions {
  /** The project directory, absolute; relative file names begin there. */
  readonly dir: string
  /** Tables of sources as they were when they could be read, for those that cannot be read now. */
  readonly knownTables?: readonly CompiledExternal[]
  /** Those are taken as they were, and no source of them is asked: somebody is typing. */
  readonly trustsKnown?: boolean
  /** Taken as they are; with a mistake anywhere, compile without them. */
  readonly kept?: KeptModels
  /** Called with the data files and patterns that models name, before the head of any of them is read. */
  readonly onInputs?: (connection: Connection, names: readonly string[]) => Promise<void>
}

/** As compileAll(), and throws one DiagnosticsError with every mistake of the project. */
export async function compile(
  files: ProjectFiles,
  options: CompileOptions,
): Promise<CompiledProject> {
  return withoutMistakes(await compileAll(files, options))
}

/** Throws one DiagnosticsError with every mistake of the project. */
export function withoutMistakes(project: CompiledProject): CompiledProject {
  if (project.errors.length > 0) throw new DiagnosticsError(allDiagnostics(project))
  return project
}

/**
 * Reads the heads of the data files that models name, and CSV seeds. A mistake costs the models that it concerns. Throws
 * ExtensionError.
 */
export async function compileAll(
  files: ProjectFiles,
  options: CompileOptions,
): Promise<CompiledProject> {
  const { project } = await compileUnits(files, options)
  return project
}

/** As compileAll(), with what a later compile can keep. */
export async function compileUnits(
  files: ProjectFiles,
  { dir, onInputs, knownTables = [], trustsKnown, kept = NO_MODELS }: CompileOptions,
): Promise<CompiledUnits> {
  const found: Diagnostic[] = [...(files.problems ?? [])]
  const names = uniqueNames(files, found)
  const findModel = (name: string) => names.get(foldCase(name))?.name ?? null
  const variables = files.variables ?? NO_VARIABLES
  // DuckDB starts in its own thread; the files are parsed meanwhile.
  const opening = Database.open({
    path: ':memory:',
    searchDir: dir,
    threads: 1,
    extensions: files.extensions,
  })
  const told = new Told(found)
  const { parsed, understood } = parseAll(files, { names, kept, told })
  const seeds = files.seeds.filter(
    ({ name, path }) => names.get(foldCase(name))?.source.path === path && !kept.has(name),
  )

  await using database = await opening
  await using connection = await database.connect()
  const macros = await createMacros(connection, files.macros, variables)
  const modelNames = Array.from(names.values(), ({ name }) => name)
  const sources = await attachKnownSources(database, connection, dir, files.sources ?? [], {
    modelNames,
    knownTables,
    trustsKnown,
  })
  found.push(...sources.unreadable, ...sources.misnamed)
  const closed = mustCloseEngine(dir, files.sources ?? [], files.extensions)
  if (closed) await closeEngine(connection, dir, files.sources ?? [])
  const known = { findModel, findSource: sources.find, macros: macros.facts }
  const isQuery = (model: ParsedModel) => model.kind !== 'events'
  const readable = [...modelNames, ...sources.tables.map(({ name }) => name)]
  const asked = parsed.filter(isQuery)
  const resolved = await resolveQueries(connection, asked, known, readable, closed)
  const { queries } = resolved
  const inFiles = await resolveFileChecks(connection, files.checks ?? [], {
    known,
    readable,
    variables,
  })
  found.push(...inFiles.diagnostics)
  found.push(...macros.diagnostics, ...resolved.diagnostics)
  await onInputs?.(connection, [
    ...queries.flatMap(({ references }) => references.files),
    ...seeds.map(({ path }) => path),
    ...inFiles.checks.flatMap(({ query }) => query.references.files),
    ...Array.from(kept.values()).flatMap(({ model }) => model.files),
  ])

  const context = {
    pathOfSource: sources.pathOf,
    partOfSource: sources.partOf,
    isVolatileSource: sources.isVolatile,
    variables,
    storedType: files.storedType,
    connection,
    dir,
    modelNames,
    findModel,
    macros: macros.definition,
  }
  const events = parsed.filter((model) => model.kind === 'events')
  const knownSeeds = await readSeeds(seeds, dir, told)
  // Without columns of what it reads a query cannot be bound; the mistake is where the source is declared.
  const lacks = ({ references }: ResolvedQuery) => references.sources.filter(sources.isUnknown)
  const bindable = queries.filter((query) => lacks(query).length === 0)
  const drafts = [
    ...draftAll({ queries: bindable, events, seeds: knownSeeds }, context),
    ...Array.from(kept.values(), draftKept),
  ]
  const { order, cycles } = orderOf(drafts)
  const inCycles = cycles.map((cycle) => ({ cycle, error: cycleDiagnostic(cycle, drafts) }))
  found.push(...inCycles.map(({ error }) => error))
  const inChecks = inFiles.checks.flatMap(({ query }) => query.references.models.map(nameOf))
  const bound = await bindAll(connection, order, { kept, alsoRead: inChecks })
  found.push(...bound.diagnostics)
  const all = await finishAll(order, bound.columns, kept, told)
  found.push(...checkEntitySets([...all.values()]))
  const sourceChecks = await checksOfSources(files, sources.tables, context)
  found.push(...sourceChecks.diagnostics)
  const { placed, diagnostics: unplaced } = placeFileChecks(
    inFiles.checks,
    order.map((draft) => ({ ...draft, sources: all.get(draft.name)?.sources ?? [] })),
  )
  found.push(...unplaced)

  const mistakes = new Mistakes(files, names)
  mistakes.add(found)
  for (const check of placed) {
    const wrong = await mistakesInFileCheck(connection, check, new Set(bound.columns.keys()))
    found.push(...wrong)
    mistakes.blame(check.owners, wrong)
  }
  for (const { name, sources: read } of all.values())
    mistakes.blame(
      [name],
      errorsAmong(read.flatMap((table) => sourceChecks.mistakes.get(table) ?? [])),
    )
  const checked = Array.from(all.values(), (model) =>
    withFileChecks(withSourceChecks(model, sourceChecks.checks), placed),
  )
  const ordered = placed.length === 0 ? checked : orderOf(checked).order
  const finished = new Map(ordered.map((model) => [model.name, model]))
  for (const { cycle, error } of inCycles) mistakes.blame(cycle, [error])
  const inMacros = errorsAmong([...macros.diagnostics, ...problemsOfMacros(files)])
  mistakes.blame(parsed.filter(isQuery).map(nameOf), inMacros)
  for (const query of queries)
    mistakes.blame(
      [query.parsed.name],
      lacks(query).map((name) => sources.away.get(name)!),
    )
  const waits = placed.flatMap(({ owners, query }) =>
    owners.map((name) => ({ ...readsOf(query), name })),
  )
  const reads = [...waits, ...queries.map(readsOf), ...drafts]
  const failed = failedModels({ names: [...names.values()], understood, reads, mistakes, finished })
  const models = new Map([...finished].filter(([name]) => !failed.has(name)))
  const sorted = found.toSorted(byPlace)
  const trees = new Map(queries.map(({ parsed: { name }, tree }) => [name, tree]))
  const readsTables = (call: string) => readsItsArgument(call, macros)
  const { tables, away } = sources
  const traced = { models, external: tables, findModel, readsTables }
  const lineages = new Map(Array.from(kept, ([name, { lineage }]) => [name, lineage]))
  const absent = new Map(queries.map((query) => [query.parsed.name, query.absent]))
  const asWritten = [...queries, ...inFiles.checks.map(({ query }) => query)]
  const project = {
    models,
    failed,
    errors: errorsAmong(sorted),
    warnings: sorted.filter(({ severity }) => severity === 'warning'),
    macros: macros.macros,
    macrosAreWhole: inMacros.length === 0,
    lineage: onceAsked(() => lineageOfAll({ ...traced, trees, known: lineages })),
    ...(kept.size === 0 ? { mentions: onceAsked(() => mentionsIn(asWritten, traced)) } : {}),
    ...(files.sources?.length ? { external: { sources: files.sources, tables, away } } : {}),
  }
  const unitOf = (model: Model): ModelUnit =>
    kept.get(model.name) ?? {
      model,
      warnings: told.of(model.name),
      absent: absent.get(model.name) ?? [],
    }
  return {
    project,
    units: new Map(Array.from(all, ([name, model]) => [name, unitOf(model)])),
    standIns: new Map([...bound.columns].filter(([name]) => kept.has(name))),
  }
}

const nameOf = ({ name }: { readonly name: ModelName }) => name

/** Files that could not be read: which macros they hold is not known. */
const problemsOfMacros = ({ problems = [] }: ProjectFiles) =>
  problems.filter(({ source: { path } }) => path === 'macros' || path.startsWith('macros/'))

const errorsAmong = (found: readonly Diagnostic[]) =>
  found.filter(({ severity }) => severity === 'error')

const readsOf = ({ parsed: { name }, references: { models, sources } }: ResolvedQuery) => ({
  name,
  dependsOn: models.map(nameOf),
  sources,
})

/** By their places. */
export const allDiagnostics = ({
  errors,
  warnings,
}: Pick<CompiledProject, 'errors' | 'warnings'>): readonly Diagnostic[] =>
  [...errors, ...warnings].toSorted(byPlace)

/** The file of each name, by the name in lower case. */
function uniqueNames(files: ProjectFiles, found: Diagnostic[]): ReadonlyMap<string, NamedFile> {
  const seeds = files.seeds.map(({ name, path }) => ({ name, source: { path, text: '' } }))
  const names = new Map<string, NamedFile>()
  for (const { name, source } of [...files.models, ...(files.unreadable ?? []), ...seeds]) {
    const first = names.get(foldCase(name))
    if (first === undefined) names.set(foldCase(name), { name, source })
    else {
      const place = { source, span: { start: 0, end: 0 } }
      const hint = 'rename or delete one of the two'
      const other = first.source.path
      found.push(diagnostic('duplicate-model', { model: name, other }, place, { hint }))
    }
  }
  return names
}

interface Parsing {
  readonly names: ReadonlyMap<string, NamedFile>
  readonly kept: KeptModels
  readonly told: Told
}

function parseAll(
  files: ProjectFiles,
  { names, kept, told }: Parsing,
): {
  readonly parsed: readonly ParsedModel[]
  readonly understood: ReadonlyMap<ModelName, Understanding>
} {
  const seeds = files.seeds.map(({ name }) => [name, { kind: 'seed', tags: [] }] as const)
  const understood = new Map<ModelName, Understanding>(seeds)
  const parsed = files.models.flatMap((file) => {
    if (kept.has(file.name)) return []
    const { model, kind, diagnostics } = parseModelFile(file, files.variables ?? NO_VARIABLES)
    told.add(file.name, diagnostics)
    if (names.get(foldCase(file.name))?.source !== file.source) return []
    const tags = model?.header.tags?.value.map((tag) => tag.name) ?? []
    understood.set(file.name, { kind, tags })
    return model === null ? [] : [model]
  })
  return { parsed, understood }
}

async function readSeeds(
  seeds: readonly SeedFile[],
  dir: string,
  told: Told,
): Promise<readonly KnownSeed[]> {
  const known: KnownSeed[] = []
  for (const file of seeds) {
    const seed = await readSeed(file, dir)
    told.add(file.name, 'code' in seed ? [seed] : seed.warnings)
    if (!('code' in seed)) known.push(seed)
  }
  return known
}

interface Understood {
  readonly queries: readonly ResolvedQuery[]
  readonly events: readonly ParsedEvents[]
  readonly seeds: readonly KnownSeed[]
}

function draftAll({ queries, events, seeds }: Understood, context: DraftContext): readonly Draft[] {
  const dynamic = queries.filter(({ tree }) => tree === null).map(({ parsed }) => parsed.name)
  return [
    ...queries.map((query) => draftQuery(query, dynamic, context)),
    ...events.map((model) => draftEvents(model, context)),
    ...seeds.map((seed) => draftSeed(seed, context)),
  ]
}

async function finishAll(
  drafts: readonly Draft[],
  columnsOf: ReadonlyMap<ModelName, readonly Column[]>,
  kept: KeptModels,
  told: Told,
): Promise<ReadonlyMap<ModelName, Model>> {
  const models = new Map<ModelName, Model>()
  for (const draft of drafts) {
    const columns = columnsOf.get(draft.name) ?? kept.get(draft.name)?.model.columns
    if (columns === undefined) continue
    const { model, diagnostics } = await draft.finish(columns)
    told.add(draft.name, diagnostics)
    models.set(model.name, model)
  }
  return models
}

/** Few commands look at it. */
function onceAsked<T extends object>(find: () => T): () => T {
  let found: T | null = null
  return () => (found ??= find())
}

/** Whether a call reads the table that its argument names. */
const readsItsArgument = (call: string, { facts }: Macros) =>
  call === 'query' || call === 'query_table' || facts.get(call)?.takesTable === true

function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.source.path !== b.source.path) return a.source.path < b.source.path ? -1 : 1
  return a.span.start - b.span.start
}
