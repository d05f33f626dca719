// Compiles a project: files to models with names resolved, columns typed, and an order to build them in.
//
// Each step continues with what earlier steps understood, so that one run reports all mistakes. A model with a mistake
// is still known by name; those that read it are left out and not blamed.

import { type Diagnostic, DiagnosticsError, byPlace } from '../core/diagnostics.ts'
import type { CompiledProject, Model } from '../core/model.ts'
import { type ModelName, foldCase } from '../core/names.ts'
import type { ProjectFiles, SeedFile } from '../core/project.ts'
import type { Column } from '../core/relation.ts'
import type { CompiledExternal } from '../core/sources.ts'
import { type Connection, Database } from '../duckdb/database.ts'
import { bindAll } from './bind/bind.ts'
import { checkEntitySets } from './exposure.ts'
import { cycleDiagnostic, failedModels, Mistakes, type NamedFile } from './failed-models.ts'
import {
  type Draft,
  type DraftContext,
  type CompiledUnits,
  draftKept,
  type KeptModels,
  type ModelUnit,
} from './bind/draft.ts'
import { draftEvents } from './bind/draft-events.ts'
import { draftQuery } from './bind/draft-query.ts'
import { draftSeeds } from './bind/draft-seed.ts'
import {
  checksOfSources,
  type SourceChecks,
  withSourceChecks,
  type FileCheck,
  mistakesInFileCheck,
  type PlacedCheck,
  placeFileChecks,
  resolveFileChecks,
  withFileChecks,
} from './checks/file-checks.ts'
import { orderOf } from './graph.ts'
import {
  closeEngine,
  mustCloseEngine,
  attachKnownSources,
  type KnownSources,
} from './sources/known-sources.ts'
import { mentionsIn } from './lineage/mentions.ts'
import { lineageOfAll, passedColumns } from './lineage/query.ts'
import { trailsOfAll } from './lineage/trails.ts'
import { MeasureEngine } from './measures/meaning.ts'
import { volatileRollups, withRollups } from './measures/rollups.ts'
import { createMacros, type Macros } from './sql/macros.ts'
import type { ParsedModel, ParsedQuery } from './model-file.ts'
import { Findings, NO_VARIABLES, parseAll, readSeeds, uniqueNames } from './read-files.ts'
import { type ResolvedQuery, resolveQueries } from './resolve.ts'

const NO_MODELS: KeptModels = new Map()

interface CompileOptions {
  /** The project directory, absolute; relative file names begin there. */
  readonly dir: string
  /** Tables of sources as they were when they could be read, for those that cannot be read now. */
  readonly knownTables?: readonly CompiledExternal[]
  /** Known tables are taken as they were, and their sources are not asked: somebody is typing. */
  readonly trustsKnown?: boolean
  /** Taken as they are; with a mistake anywhere, compile without them. */
  readonly kept?: KeptModels
  /** Called with the data files and patterns that models name, before the head of any of them is read. */
  readonly onInputs?: (connection: Connection, names: readonly string[]) => Promise<void>
}

/** Does what compileAll() does, and throws one DiagnosticsError with every mistake of the project. */
export async function compile(
  files: ProjectFiles,
  options: CompileOptions,
): Promise<CompiledProject> {
  return withoutMistakes(await compileAll(files, options))
}

/** Throws one DiagnosticsError with every mistake of the project, by their places. */
export function withoutMistakes(project: CompiledProject): CompiledProject {
  const { errors, warnings } = project
  if (errors.length > 0) throw new DiagnosticsError([...errors, ...warnings].toSorted(byPlace))
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
  const { project } = await compileUnits(withRollups(files), options)
  return project
}

/** Does what compileAll() does, and returns what a later compile can keep. */
export async function compileUnits(
  files: ProjectFiles,
  options: CompileOptions,
): Promise<CompiledUnits> {
  const { dir, kept = NO_MODELS } = options
  const found = new Findings(files)
  const names = uniqueNames(files, found)
  // DuckDB starts in its own thread; the files are parsed meanwhile.
  const opening = Database.open({
    path: ':memory:',
    searchDir: dir,
    threads: 1,
    extensions: files.extensions,
  })
  const { parsed, understood } = parseAll(files, { names, kept, found })
  await using database = await opening
  await using connection = await database.connect()
  await using measures = new MeasureEngine()
  const reading = { files, names, kept, found, parsed, measures }
  const of = await openCompilation(database, connection, reading, options)
  const { sources, context } = of
  const resolved = await resolveAll(of)
  const { queries, checks } = resolved
  const seeds = files.seeds.filter(
    ({ name, path }) => names.get(foldCase(name))?.source.path === path && !kept.has(name),
  )
  await options.onInputs?.(connection, inputsOf(resolved, seeds))

  const { drafts, order, cycles } = await draftAll(resolved, seeds)
  const alsoRead = checks.flatMap(({ query }) => query.references.models.map(nameOf))
  const bound = await bindAll(connection, order, { kept, alsoRead })
  found.add(bound.diagnostics)
  const all = await finishAll(of, order, bound.columns)
  found.add(checkEntitySets([...all.values()]))
  found.add(volatileRollups(files, all))
  const sourceChecks = await checksOfSources(files, sources.tables, context)
  found.add(sourceChecks.diagnostics)
  const { placed, diagnostics } = placeFileChecks(
    checks,
    order.map((draft) => ({ ...draft, sources: all.get(draft.name)?.sources ?? [] })),
  )
  found.add(diagnostics)

  const finished = withChecks(all, sourceChecks, placed)
  const bindings = { all, columns: bound.columns, sourceChecks, placed, cycles }
  const mistakes = await blameAll(resolved, bindings)
  const waits = placed.flatMap(({ owners, query }) =>
    owners.map((name) => ({ ...readsOf(query), name })),
  )
  const reads = [...waits, ...queries.map(readsOf), ...drafts]
  const failed = failedModels({ names: [...names.values()], understood, reads, mistakes, finished })
  const models = new Map([...finished].filter(([name]) => !failed.has(name)))
  const absent = new Map(queries.map((query) => [query.parsed.name, query.absent]))
  const unitOf = (model: Model): ModelUnit =>
    kept.get(model.name) ?? {
      model,
      warnings: found.of(model.name),
      absent: absent.get(model.name) ?? [],
    }
  return {
    project: projectOf(resolved, { models, failed }),
    units: new Map(Array.from(all, ([name, model]) => [name, unitOf(model)])),
    standIns: new Map([...bound.columns].filter(([name]) => kept.has(name))),
  }
}

interface Reading {
  readonly files: ProjectFiles
  /** The file of each name, by the name in lower case. */
  readonly names: ReadonlyMap<string, NamedFile>
  readonly kept: KeptModels
  readonly found: Findings
  readonly parsed: readonly ParsedModel[]
  readonly measures: MeasureEngine
}

/** What every step knows after the files are parsed. */
interface Compilation extends Reading {
  readonly connection: Connection
  readonly macros: Macros
  readonly sources: KnownSources
  /** Names of what a query may read, for hints. */
  readonly readable: readonly string[]
  /** Whether models may reach nothing that eider.yml does not name. */
  readonly isClosed: boolean
  readonly context: DraftContext
}

async function openCompilation(
  database: Database,
  connection: Connection,
  reading: Reading,
  { dir, knownTables = [], trustsKnown }: CompileOptions,
): Promise<Compilation> {
  const { files, names, found } = reading
  const { variables = NO_VARIABLES, sources: declared = [] } = files
  const macros = await createMacros(connection, files.macros, variables)
  const modelNames = Array.from(names.values(), nameOf)
  const given = { modelNames, knownTables, trustsKnown }
  const sources = await attachKnownSources(database, connection, dir, declared, given)
  found.add([...sources.unreadable, ...sources.misnamed])
  const isClosed = mustCloseEngine(dir, declared, files.extensions)
  if (isClosed) await closeEngine(connection, dir, declared)
  const findModel = (name: string) => names.get(foldCase(name))?.name ?? null
  // Whether a call reads the table that its argument names.
  const readsTables = (call: string) =>
    call === 'query' || call === 'query_table' || macros.facts.get(call)?.takesTable === true
  const context = {
    sources,
    measures: reading.measures,
    variables,
    hasStoredTypes: files.hasStoredTypes,
    connection,
    dir,
    modelNames,
    findModel,
    givers: { macros: macros.facts, external: sources.tables, findModel, readsTables },
    macros: macros.definition,
    macrosIn: macros.definitionIn,
  }
  const readable = [...modelNames, ...sources.tables.map(({ name }) => name)]
  return { ...reading, connection, macros, sources, readable, isClosed, context }
}

interface Resolved extends Compilation {
  readonly queries: readonly ResolvedQuery[]
  readonly checks: readonly FileCheck[]
}

/** Queries of models and of files of checks/, with what they refer to. */
async function resolveAll(of: Compilation): Promise<Resolved> {
  const { files, found, connection, macros, sources, readable, isClosed, context, parsed } = of
  const { findModel, variables } = context
  const known = { findModel, findSource: sources.find, macros: macros.facts }
  const asked = parsed.filter(isQuery)
  const resolved = await resolveQueries(connection, asked, known, readable, {
    dir: context.dir,
    isClosed,
  })
  const more = { known, readable, variables, dir: context.dir }
  const inFiles = await resolveFileChecks(connection, files.checks ?? [], more)
  found.add([...inFiles.diagnostics, ...macros.diagnostics, ...resolved.diagnostics])
  return { ...of, queries: resolved.queries, checks: inFiles.checks }
}

const inputsOf = (
  { kept, queries, checks }: Resolved,
  seeds: readonly SeedFile[],
): readonly string[] => [
  ...queries.flatMap(({ references }) => references.files),
  ...seeds.map(({ path }) => path),
  ...checks.flatMap(({ query }) => query.references.files),
  ...Array.from(kept.values()).flatMap(({ model }) => model.files),
]

interface Cycle {
  readonly models: readonly ModelName[]
  readonly error: Diagnostic
}

async function draftAll(
  { kept, found, sources, context, parsed, queries }: Resolved,
  seeds: readonly SeedFile[],
): Promise<{
  readonly drafts: readonly Draft[]
  readonly order: readonly Draft[]
  readonly cycles: readonly Cycle[]
}> {
  const knownSeeds = await readSeeds(seeds, context.dir, found)
  const bindable = queries.filter((query) => unknownSources(query, sources).length === 0)
  const dynamic = bindable.filter(({ tree }) => tree === null).map((query) => query.parsed.name)
  const drafts = [
    ...bindable.map((query) => draftQuery(query, dynamic, context)),
    ...parsed.flatMap((model) => (isQuery(model) ? [] : [draftEvents(model, context)])),
    ...(await draftSeeds(knownSeeds, context)),
    ...Array.from(kept.values(), draftKept),
  ]
  const { order, cycles } = orderOf(drafts)
  const inCycles = cycles.map((models) => ({ models, error: cycleDiagnostic(models, drafts) }))
  found.add(inCycles.map(({ error }) => error))
  return { drafts, order, cycles: inCycles }
}

/** Without columns of what it reads a query cannot be bound; the mistake is where the source is declared. */
const unknownSources = ({ references }: ResolvedQuery, sources: KnownSources) =>
  references.sources.filter(sources.isUnknown)

async function finishAll(
  { kept, found }: Compilation,
  order: readonly Draft[],
  columnsOf: ReadonlyMap<ModelName, readonly Column[]>,
): Promise<ReadonlyMap<ModelName, Model>> {
  const models = new Map<ModelName, Model>()
  for (const draft of order) {
    const columns = columnsOf.get(draft.name) ?? kept.get(draft.name)?.model.columns
    if (columns === undefined) continue
    const { model, diagnostics } = await draft.finish(columns, models)
    found.addTo(draft.name, diagnostics)
    models.set(model.name, model)
  }
  return models
}

/** With the checks that are written elsewhere, in an order in which each comes after what these read too. */
function withChecks(
  all: ReadonlyMap<ModelName, Model>,
  { checks }: SourceChecks,
  placed: readonly PlacedCheck[],
): ReadonlyMap<ModelName, Model> {
  const models = Array.from(all.values(), (model) =>
    withFileChecks(withSourceChecks(model, checks), placed),
  )
  const ordered = placed.length === 0 ? models : orderOf(models).order
  return new Map(ordered.map((model) => [model.name, model]))
}

interface Bindings {
  readonly all: ReadonlyMap<ModelName, Model>
  readonly columns: ReadonlyMap<ModelName, readonly Column[]>
  readonly sourceChecks: SourceChecks
  readonly placed: readonly PlacedCheck[]
  readonly cycles: readonly Cycle[]
}

async function blameAll(
  { files, names, found, connection, macros, sources, parsed, queries }: Resolved,
  { all, columns, sourceChecks, placed, cycles }: Bindings,
): Promise<Mistakes> {
  const mistakes = new Mistakes(files, names)
  mistakes.add(found.all)
  for (const check of placed) {
    const wrong = await mistakesInFileCheck(connection, check, new Set(columns.keys()))
    found.add(wrong)
    mistakes.blame(check.owners, wrong)
  }
  for (const { name, sources: read } of all.values()) {
    const wrong = read.flatMap((table) => sourceChecks.mistakes.get(table) ?? [])
    mistakes.blame([name], errorsAmong(wrong))
  }
  for (const { models, error } of cycles) mistakes.blame(models, [error])
  mistakes.blame(parsed.filter(isQuery).map(nameOf), mistakesInMacros(files, macros))
  for (const query of queries) {
    const wrong = unknownSources(query, sources).map((name) => sources.problems.get(name)!)
    mistakes.blame([query.parsed.name], wrong)
  }
  return mistakes
}

function projectOf(
  { files, kept, found, macros, sources, context, queries, checks }: Resolved,
  { models, failed }: Pick<CompiledProject, 'models' | 'failed'>,
): CompiledProject {
  const sorted = found.all.toSorted(byPlace)
  const trees = new Map(queries.map(({ parsed: { name }, tree }) => [name, tree]))
  const { tables, problems } = sources
  const traced = { ...context.givers, models }
  const known = new Map(Array.from(kept, ([name, { lineage }]) => [name, lineage]))
  const knownTrails = new Map(Array.from(kept, ([name, { trails }]) => [name, trails]))
  const asWritten = [...queries, ...checks.map(({ query }) => query)]
  return {
    models,
    failed,
    errors: errorsAmong(sorted),
    warnings: sorted.filter(({ severity }) => severity === 'warning'),
    macros: macros.macros,
    macrosAreWhole: mistakesInMacros(files, macros).length === 0,
    lineage: onceAsked(() => lineageOfAll({ ...traced, trees, known })),
    trails: onceAsked(() => trailsOfAll({ ...traced, trees }, knownTrails)),
    ...(kept.size === 0
      ? {
          mentions: onceAsked(() => mentionsIn(asWritten, traced)),
          passed: onceAsked(() => passedColumns({ ...traced, trees })),
        }
      : {}),
    ...(files.sources?.length ? { external: { sources: files.sources, tables, problems } } : {}),
  }
}

const nameOf = ({ name }: { readonly name: ModelName }) => name

const isQuery = (model: ParsedModel): model is ParsedQuery => model.kind !== 'events'

/** Also files that could not be read: which macros they hold is not known. */
const mistakesInMacros = ({ problems = [] }: ProjectFiles, { diagnostics }: Macros) =>
  errorsAmong([
    ...diagnostics,
    ...problems.filter(({ source: { path } }) => path === 'macros' || path.startsWith('macros/')),
  ])

const errorsAmong = (found: readonly Diagnostic[]) =>
  found.filter(({ severity }) => severity === 'error')

const readsOf = ({ parsed: { name }, references: { models, sources } }: ResolvedQuery) => ({
  name,
  dependsOn: models.map(nameOf),
  sources,
})

/** Few commands look at it. */
function onceAsked<T extends object>(find: () => T): () => T {
  let found: T | null = null
  return () => (found ??= find())
}
