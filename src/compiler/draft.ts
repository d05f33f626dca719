// A model on its way: references known, columns still to be bound. One maker for each sort of file.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { Expose, Model } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import type { SeedFile } from '../core/project.ts'
import { type Column, isTypeText } from '../core/relation.ts'
import type { SourceFile, Span } from '../core/source.ts'
import { sql } from '../core/sql.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Connection } from '../duckdb/database.ts'
import { DatabaseError, type DatabaseErrorDetails } from '../duckdb/errors.ts'
import type { Bindable } from './bind.ts'
import { type CheckContext, modelsInChecks, resolveChecks } from './checks.ts'
import { definitionOf } from './definition.ts'
import { checkExposed, columnLocations } from './exposure.ts'
import {
  finishKind,
  namesOf,
  schemaChangeOfEvents,
  settingsOf,
  withoutVersions,
  wrapping,
} from './kinds.ts'
import { describeColumns, resolveColumns } from './named-columns.ts'
import { placesOf } from './annotations.ts'
import type { ParsedEvents, ParsedModel, ParsedQuery } from './model-file.ts'
import { engineDiagnostic, problemOf, spanAtByte, spanOfError, withoutDir } from './places.ts'
import { type ResolvedQuery, unknownModel } from './resolve.ts'
import { seedQuery, wrongSeedTypes } from './seed.ts'

export interface Draft extends Bindable {
  readonly finish: (columns: readonly Column[]) => Promise<Finished>
  /** Where this model first names another one. */
  readonly placeOf: (model: ModelName) => Place
}

interface Finished {
  readonly model: Model
  readonly diagnostics: readonly Diagnostic[]
}

interface Place {
  readonly source: SourceFile
  readonly span: Span
}

export interface DraftContext extends CheckContext {
  /** Project directory. */
  readonly dir: string
  /** File, or database, of a table of a source. */
  readonly pathOfSource: (name: string) => string
  /** Schema in the database of a table of a source. */
  readonly schemaOfSource: (name: string) => string
  /** Definition of all macros. */
  readonly macros: string
}

/** `dynamic`: models whose columns depend on their data. */
export function draftQuery(
  query: ResolvedQuery,
  dynamic: readonly ModelName[],
  context: DraftContext,
): Draft {
  const { parsed, references, tree, canonical } = query
  const { name, source, header, kind, body } = parsed
  const extra = extraDependencies(parsed, context)
  const dependsOn = [...new Set([...references.models.map((model) => model.name), ...extra.keys()])]
  const settings = settingsOf(source, header, context.variables)
  const { opening, closing } = wrapping(kind)
  return {
    name,
    dependsOn,
    complete: true,
    opening,
    rows: sql`${sql.body(body)}${closing}`,
    placeOf: (model) => {
      const reference = references.models.find((candidate) => candidate.name === model)
      const declared = reference === undefined ? extra.get(model) : undefined
      return { source, span: declared ?? spanAtByte(body, reference?.at ?? null) }
    },
    explain: async (details, prefix) => explainQuery(query, dynamic, context, details, prefix),
    finish: async (columns) => {
      const { sources, volatile } = references
      const files = [...new Set([...references.files, ...sources.map(context.pathOfSource)])]
      const own = (all: readonly Column[]) => (kind === 'scd2' ? withoutVersions(all) : all)
      const named = await namesOfQuery(query, columns, context)
      const { base, diagnostics } = finishHeader(parsed, named, (i) => {
        const at = tree === null ? null : columnLocations(tree, own(columns).length)[i]
        return at == null ? null : spanAtByte(body, at)
      })
      const schemas = sources.map(context.schemaOfSource)
      const definition = definitionOf(kind, settings, canonical, context.macros, ...schemas)
      const { checks, diagnostics: inChecks } = await resolveChecks(parsed, columns, context)
      const { described, diagnostics: inTexts } = describeColumns(parsed, columns)
      const rest = {
        ...base,
        columns: described,
        dependsOn,
        sources,
        files,
        volatile,
        definition,
        body,
        checks,
      }
      const finished = finishKind(parsed, rest, own(columns))
      const unknown = unknownModels(parsed, context)
      const found = [...diagnostics, ...finished.diagnostics, ...inChecks, ...inTexts, ...unknown]
      return { model: finished.model, diagnostics: found }
    },
  }
}

/** Models that the annotations name, with the places; a model that refers to itself does not wait for itself. */
function extraDependencies(
  { name, header }: ParsedQuery,
  { findModel }: DraftContext,
): ReadonlyMap<ModelName, Span> {
  const found = new Map<ModelName, Span>()
  for (const named of [...(header.depends_on?.value ?? []), ...modelsInChecks(header)]) {
    const model = findModel(named.name)
    if (model !== null && model !== name && !found.has(model)) found.set(model, named.span)
  }
  return found
}

export function draftEvents(parsed: ParsedEvents, { connection }: DraftContext): Draft {
  const { name, source, header, kind, declared, complete } = parsed
  const nulls = declared.map(
    ({ name: column, type }) => sql`CAST(NULL AS ${sql.body(type)}) AS ${sql.ident(column)}`,
  )
  return {
    name,
    dependsOn: [],
    complete,
    rows: sql`SELECT ${sql.join(nulls)}`,
    placeOf: () => ({ source, span: { start: 0, end: 0 } }),
    explain: () => wrongTypes(connection, parsed),
    finish: async (bound) => {
      const columns = bound.map((column, i) => ({ ...column, nullable: declared[i]!.nullable }))
      const { base, diagnostics } = finishHeader(parsed, columns, (i) => declared[i]!.span)
      const definition = definitionOf(kind, namesOf(header.expose?.value), columns)
      const reads = { dependsOn: [], sources: [], files: [], volatile: false, checks: [] }
      const { onSchemaChange, conflicts } = schemaChangeOfEvents(source, header)
      const { described, diagnostics: inTexts } = describeColumns(parsed, columns)
      const kept = { ...base, ...reads, columns: described, definition }
      const model = { ...kept, kind, onSchemaChange }
      const unstorable = unstorableTypes(parsed, columns)
      return { model, diagnostics: [...diagnostics, ...conflicts, ...inTexts, ...unstorable] }
    },
  }
}

/** The engine knows VARIANT and its table format does not: what was accepted for such a column could never be flushed. */
function unstorableTypes(
  { source, declared }: ParsedEvents,
  columns: readonly Column[],
): readonly Diagnostic[] {
  const problem = 'a table cannot hold it yet'
  return declared
    .filter((_, i) => /\bVARIANT\b/.test(columns[i]!.type))
    .map(({ type }) =>
      diagnostic(
        'invalid-column-type',
        { type: type.text, problem },
        { source, span: type.span },
        { hint: 'take JSON' },
      ),
    )
}

export function draftSeed(seed: SeedFile, { connection, dir }: DraftContext): Draft {
  const { name, path, format, types } = seed
  const source = { path, text: '' }
  const place = { source, span: { start: 0, end: 0 } }
  const wanted = types.map(({ column, type }) => ({ column, type }))
  // A text that is no type cannot be put into SQL; what is wrong with it is said when the seed is finished.
  const readable = types.every(({ type }) => isTypeText(type))
  const rows = seedQuery({ source, format, types: readable ? wanted : [] }, dir)
  return {
    name,
    dependsOn: [],
    complete: true,
    rows,
    placeOf: () => place,
    explain: async (details) => {
      const unreadable = (problem: DatabaseErrorDetails) =>
        diagnostic('unreadable-file', { problem: problemOf(withoutDir(problem, dir)) }, place)
      try {
        const wrong = await wrongSeedTypes(connection, seed, dir)
        return wrong.length > 0 ? wrong : [unreadable(details)]
      } catch (error) {
        if (!(error instanceof DatabaseError)) throw error
        return [unreadable(error.details)]
      }
    },
    finish: async (columns) => {
      const reads = { dependsOn: [], sources: [], files: [path], volatile: false, checks: [] }
      const words = { description: null, tags: [], owner: null, places: {} }
      const base = { name, source, ...words, expose: null, columns }
      const definition = definitionOf('seed', format, ...(wanted.length === 0 ? [] : [wanted]))
      const model = { ...base, ...reads, definition, kind: 'seed', format, types: wanted } as const
      const diagnostics = readable ? [] : await wrongSeedTypes(connection, seed, dir)
      return { model, diagnostics }
    },
  }
}

function explainQuery(
  { parsed: { body, source }, tree, references }: ResolvedQuery,
  dynamic: readonly ModelName[],
  { modelNames, dir }: DraftContext,
  error: DatabaseErrorDetails,
  prefix: string,
): readonly Diagnostic[] {
  const details = withoutDir(error, dir)
  // All columns come from the data, of which there is none now.
  if (tree === null && details.message.startsWith('SELECT list is empty')) return []
  const place = { source, span: spanOfError(details, body, prefix) }
  const upstream = references.models.find(({ name }) => dynamic.includes(name))
  const hint = `list the values of its PIVOT: ON column IN (…)`
  if (details.type === 'Catalog' && details.message.startsWith('Table with name')) {
    if (upstream === undefined)
      return [unknownModel(source.text.slice(place.span.start, place.span.end), place, modelNames)]
    const use = `leaves ${upstream.name} without a column that is known here`
    return [diagnostic('dynamic-pivot', { use }, place, { hint })]
  }
  const found = engineDiagnostic(details, body, prefix)
  if (details.subtype !== 'COLUMN_NOT_FOUND' || upstream === undefined) return [found]
  return [{ ...found, hint: `the columns of ${upstream.name} come from its data: ${hint}` }]
}

/** The engine gives a table other names where two columns of the query have the same; the author has to know. */
async function namesOfQuery(
  { parsed: { header, body } }: ResolvedQuery,
  columns: readonly Column[],
  { connection }: DraftContext,
): Promise<readonly Column[]> {
  if (header.expose === undefined) return columns
  if (!columns.some(({ name }) => /_\d+$/.test(name))) return columns
  const original = await connection.columnsOf(sql.body(body))
  return columns.map((column, i) => ({ ...column, name: original[i]?.name ?? column.name }))
}

async function wrongTypes(
  connection: Connection,
  { source, declared }: ParsedEvents,
): Promise<readonly Diagnostic[]> {
  // A table, as the engine has types that no table may have.
  const prefix = sql`CREATE OR REPLACE TEMP TABLE _eider_type AS (SELECT CAST(NULL AS `
  const found: Diagnostic[] = []
  const types = await connection.rows(sql`SELECT DISTINCT type_name AS name FROM duckdb_types()`)
  const names = types.map(({ name }) => (name as string).toUpperCase())
  for (const { type } of declared) {
    try {
      await connection.run(sql`${prefix}${sql.body(type)}) AS value) WITH NO DATA`)
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error
      const { details } = error
      const span =
        details.position === null ? type.span : spanOfError(details, type, prefix.inline())
      const text = type.text.replaceAll(/\s+/g, ' ')
      const problem = problemOf(details)
      const hint = didYouMean(details.name ?? '', names)
      found.push(
        diagnostic('invalid-column-type', { type: text, problem }, { source, span }, { hint }),
      )
    }
  }
  return found
}

function unknownModels(
  { header, source }: ParsedQuery,
  { findModel, modelNames }: DraftContext,
): readonly Diagnostic[] {
  return (header.depends_on?.value ?? [])
    .filter(({ name }) => findModel(name) === null)
    .map(({ name, span }) => unknownModel(name, { source, span }, modelNames))
}

/** What the annotations give to every kind. */
function finishHeader(
  parsed: ParsedModel,
  columns: readonly Column[],
  placeOfColumn: (index: number) => Span | null,
) {
  const { name, source, header } = parsed
  const description = header.description?.value ?? null
  const tags = header.tags?.value.map((tag) => tag.name) ?? []
  const owner = header.owner?.value ?? null
  const base = { name, source, description, tags, owner, places: placesOf(header) }
  if (header.expose === undefined) return { base: { ...base, expose: null }, diagnostics: [] }
  const { span } = header.expose
  const { names: key, diagnostics } = resolveColumns(source, 'expose', header.expose.value, columns)
  const expose: Expose = { key, span }
  const wrong = checkExposed({ source, span, columns, placeOfColumn })
  return { base: { ...base, expose }, diagnostics: [...diagnostics, ...wrong] }
}
