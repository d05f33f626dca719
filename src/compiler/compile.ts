// Compiles a project: files to models with names resolved, columns typed, and an order to build them in.
//
// Each step goes on with what the steps before understood, so that one run reports all mistakes. A model with a mistake
// is still known by name; those that read it are left out and not blamed.

import { type Diagnostic, diagnostic, throwIfErrors } from '../core/diagnostics.ts'
import type { CompiledProject, Model } from '../core/model.ts'
import { type ModelName, foldCase } from '../core/names.ts'
import type { ProjectFiles } from '../core/project.ts'
import type { Column } from '../core/relation.ts'
import { positionOf, type SourceFile } from '../core/source.ts'
import type { Variables } from '../core/variables.ts'
import { type Connection, Database } from '../duckdb/database.ts'
import { bindAll } from './bind/bind.ts'
import { checkEntitySets } from './exposure.ts'
import type { Draft, DraftContext } from './bind/draft.ts'
import { draftEvents } from './bind/draft-events.ts'
import { draftQuery } from './bind/draft-query.ts'
import { draftSeed, type KnownSeed, readSeed } from './bind/draft-seed.ts'
import { orderOf } from './graph.ts'
import { attachKnownSources } from './known-sources.ts'
import { lineageOfAll, type LineageSources } from './lineage/query.ts'
import { createMacros, type Macros } from './sql/macros.ts'
import { type ParsedEvents, type ParsedModel, parseModelFile } from './model-file.ts'
import { type ResolvedQuery, resolveQueries } from './resolve.ts'

const NO_VARIABLES: Variables = new Map()

export interface CompileOptions {
  /** The project directory, absolute; relative file names begin there. */
  readonly dir: string
  /** Leaves out the models that read a source that cannot be read, with a warning, instead of refusing the project. */
  readonly withoutBrokenSources?: boolean
  /** Told of the data files and patterns that models name, before the head of any of them is read. */
  readonly onInputs?: (connection: Connection, names: readonly string[]) => Promise<void>
}

/**
 * Reads the heads of the data files that models name, and nothing else. Throws one DiagnosticsError with every mistake
 * of the project.
 */
export async function compile(
  files: ProjectFiles,
  { dir, onInputs, withoutBrokenSources = false }: CompileOptions,
): Promise<CompiledProject> {
  const found: Diagnostic[] = [...(files.problems ?? [])]
  const names = uniqueNames(files, found)
  const findModel = (name: string) => names.get(foldCase(name))?.name ?? null
  const variables = files.variables ?? NO_VARIABLES
  // The engine starts in a thread of its own; the files are parsed meanwhile.
  const opening = Database.open({ path: ':memory:', searchDir: dir, threads: 1 })
  const parsed = parseAll(files, names, found)
  const seeds = files.seeds.filter(
    ({ name, path }) => names.get(foldCase(name))?.source.path === path,
  )

  await using database = await opening
  await using connection = await database.connect()
  const macros = await createMacros(connection, files.macros, variables)
  const modelNames = Array.from(names.values(), ({ name }) => name)
  const sources = await attachKnownSources(connection, dir, files.sources ?? [], modelNames)
  const severity = withoutBrokenSources ? 'warning' : 'error'
  found.push(...sources.unreadable.map((item) => ({ ...item, severity }) as const))
  found.push(...sources.misnamed)
  const known = { findModel, findSource: sources.find, macros: macros.facts }
  const isQuery = (model: ParsedModel) => model.kind !== 'events'
  const readable = [...modelNames, ...sources.tables.map(({ name }) => name)]
  const resolved = await resolveQueries(connection, parsed.filter(isQuery), known, readable)
  const queries = resolved.queries.filter(
    ({ references }) => !references.sources.some(sources.isBroken),
  )
  found.push(...macros.diagnostics, ...resolved.diagnostics)
  await onInputs?.(connection, [
    ...queries.flatMap(({ references }) => references.files),
    ...seeds.map(({ path }) => path),
  ])

  const knownSeeds: KnownSeed[] = []
  for (const file of seeds) {
    const seed = await readSeed(file, dir)
    if ('code' in seed) found.push(seed)
    else {
      knownSeeds.push(seed)
      found.push(...seed.warnings)
    }
  }
  const context = {
    pathOfSource: sources.pathOf,
    schemaOfSource: sources.schemaOf,
    variables,
    connection,
    dir,
    modelNames,
    findModel,
    macros: macros.definition,
  }
  const events = parsed.filter((model) => model.kind === 'events')
  const drafts = draftAll({ queries, events, seeds: knownSeeds }, context)
  const { order, cycles } = orderOf(drafts)
  found.push(...cycles.map((cycle) => cycleDiagnostic(cycle, drafts)))
  const bound = await bindAll(connection, order)
  found.push(...bound.diagnostics)
  const models = await finishAll(order, bound.columns, found)
  found.push(...checkEntitySets([...models.values()]))
  const sorted = found.toSorted(byPlace)
  throwIfErrors(sorted)
  const trees = new Map(queries.map(({ parsed: { name }, tree }) => [name, tree]))
  const readsTables = (call: string) => readsItsArgument(call, macros)
  const lineage = whenAsked({ models, trees, external: sources.tables, findModel, readsTables })
  const compiled = { models, macros: macros.macros, lineage, warnings: sorted }
  return files.sources === undefined || files.sources.length === 0
    ? compiled
    : { ...compiled, external: { sources: files.sources, tables: sources.tables } }
}

interface NamedFile {
  readonly name: ModelName
  readonly source: SourceFile
}

/** The file of each name, by the name in lower case. */
function uniqueNames(files: ProjectFiles, found: Diagnostic[]): ReadonlyMap<string, NamedFile> {
  const seeds = files.seeds.map(({ name, path }) => ({ name, source: { path, text: '' } }))
  const names = new Map<string, NamedFile>()
  for (const { name, source } of [...files.models, ...seeds]) {
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

function parseAll(
  files: ProjectFiles,
  names: ReadonlyMap<string, NamedFile>,
  found: Diagnostic[],
): readonly ParsedModel[] {
  return files.models.flatMap((file) => {
    const { model, diagnostics } = parseModelFile(file, files.variables ?? NO_VARIABLES)
    found.push(...diagnostics)
    const isFirst = names.get(foldCase(file.name))?.source === file.source
    return model !== null && isFirst ? [model] : []
  })
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
  found: Diagnostic[],
): Promise<ReadonlyMap<ModelName, Model>> {
  const models = new Map<ModelName, Model>()
  for (const draft of drafts) {
    const columns = columnsOf.get(draft.name)
    if (columns === undefined) continue
    const { model, diagnostics } = await draft.finish(columns)
    found.push(...diagnostics)
    models.set(model.name, model)
  }
  return models
}

/** Few commands look at the lineage. */
function whenAsked(sources: LineageSources): CompiledProject['lineage'] {
  let traced: ReturnType<CompiledProject['lineage']> | null = null
  return () => (traced ??= lineageOfAll(sources))
}

/** Whether a call reads the table that its argument names. */
const readsItsArgument = (call: string, { facts }: Macros) =>
  call === 'query' || call === 'query_table' || facts.get(call)?.takesTable === true

/** At the annotation that closes the circle where there is one: it is easier to give up than a table of a query. */
function cycleDiagnostic(cycle: readonly ModelName[], drafts: readonly Draft[]): Diagnostic {
  const edges = cycle.map((name, i) => {
    const next = cycle[(i + 1) % cycle.length]!
    const place = drafts.find((draft) => draft.name === name)!.placeOf(next)
    const { lineText } = positionOf(place.source, place.span.start)
    return { name, next, place, isAnnotation: /^\s*--/.test(lineText) }
  })
  const { name, next, place, isAnnotation } = edges.find((edge) => edge.isAnnotation) ?? edges[0]!
  const hint =
    cycle.length === 1
      ? 'a table that keeps its rows is @kind: append or @kind: merge, and does not read itself'
      : isAnnotation
        ? `this line makes ${name} wait for ${next}; leave it out, or put it on a model that reads both`
        : 'move what they share into a model that both of them read'
  return diagnostic('dependency-cycle', { models: cycle }, place, { hint })
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.source.path !== b.source.path) return a.source.path < b.source.path ? -1 : 1
  return a.span.start - b.span.start
}
