// A model in progress: references resolved, columns still to be bound. Each sort of file has its own draft-*.ts.

import type { KnownSources } from '../sources/known-sources.ts'
import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { Trails } from '../../core/addresses.ts'
import type { Expose, Model, CompiledProject, Lineage } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { type SourceFile, type Span, wholeFile, type FilePlace } from '../../core/source-text.ts'
import { placesOf } from '../annotations/annotations.ts'
import type { Bindable } from './bind.ts'
import { type CheckContext, modelsInChecks } from '../checks/resolve-checks.ts'
import { checkContract, columnsWithoutNull, promisedColumns } from '../contract.ts'
import { checkExposed } from '../exposure.ts'
import type { ParsedModel } from '../model-file.ts'
import type { GiverContext } from './givers.ts'
import type { MeasureEngine } from '../measures/meaning.ts'
import { resolveColumns } from '../sql/named-columns.ts'
import { storedType } from '../../core/type-syntax.ts'
import type { ProjectFiles } from '../../core/project.ts'
import { sql } from '../../core/sql.ts'

export interface Draft extends Bindable {
  /** `before`: the models that come before it. */
  readonly finish: (
    columns: readonly Column[],
    before: ReadonlyMap<ModelName, Model>,
  ) => Promise<DraftResult>
  /** Where this model first names another one. */
  readonly placeOf: (model: ModelName) => FilePlace
}

export interface DraftResult {
  readonly model: Model
  readonly diagnostics: readonly Diagnostic[]
}

export interface DraftContext extends CheckContext, TargetTypes {
  readonly dir: string
  readonly sources: Pick<KnownSources, 'pathOf' | 'isVolatile' | 'partOf' | 'columnsOf'>
  readonly measures: MeasureEngine
  /** What names and calls in a query mean. */
  readonly givers: GiverContext
  /** Definition of all macros. */
  readonly macros: string
  /** The definition of those macros that a canonical text may call. */
  readonly macrosIn: (canonical: string) => string
}

export function finishHeader(
  parsed: ParsedModel,
  columns: readonly Column[],
  placeOfColumn: (index: number) => Span | null,
) {
  const { name, source, header } = parsed
  const description = header.description?.value ?? null
  const tags = header.tags?.value.map((tag) => tag.name) ?? []
  const owner = header.owner?.value ?? null
  const base = { name, source, description, tags, owner, places: placesOf(header) }
  const terms = header.contract ?? []
  if (header.expose === undefined) {
    const broken = checkContract({ name, source, terms, key: null, columns })
    const promised = freshOfNothing(source, header)
    return { base: { ...base, expose: null }, diagnostics: [...broken, ...promised] }
  }
  const { span } = header.expose
  const asked = header.expose.value
  const { names: key, diagnostics } = resolveColumns(source, 'expose', asked, columns)
  const expose: Expose = { key, span }
  const uniqueKey = header.unique_key?.value.map((column) => column.name) ?? []
  const named = asked.map((column) => column.name)
  const wrong = checkExposed({ source, span, key: named, uniqueKey, columns, placeOfColumn })
  const promised = promisedColumns(parsed.kind, key, columns, neverNullIn(header))
  const broken = checkContract({ name, source, terms, key, columns: promised })
  const fresh = header.fresh && { fresh: header.fresh.value }
  const whole = { ...base, expose, ...fresh }
  return { base: whole, diagnostics: [...diagnostics, ...wrong, ...broken] }
}

const neverNullIn = ({ check = [] }: ParsedModel['header']): readonly string[] =>
  check.flatMap(({ value }) => columnsWithoutNull(value)).map((column) => column.name)

function freshOfNothing(source: SourceFile, { fresh }: ParsedModel['header']) {
  if (fresh === undefined) return []
  const hint = 'write -- @expose with the columns of its key, or delete this line'
  return [diagnostic('fresh-not-exposed', {}, { source, span: fresh.span }, hint)]
}

/** Models that the annotations name, with the places; a model that refers to itself does not wait for itself. */
export function extraDependencies(
  { name, header }: Pick<ParsedModel, 'name' | 'header'>,
  { findModel }: Pick<CheckContext, 'findModel'>,
): ReadonlyMap<ModelName, Span> {
  const found = new Map<ModelName, Span>()
  for (const named of [...(header.depends_on?.value ?? []), ...modelsInChecks(header)]) {
    const model = findModel(named.name)
    if (model !== null && model !== name && !found.has(model)) found.set(model, named.span)
  }
  return found
}

/** What a draft knows of where its rows will lie. */
interface TargetTypes {
  readonly hasStoredTypes: ProjectFiles['hasStoredTypes']
}

interface StoredPlaces {
  readonly source: SourceFile
  readonly spanOf: (index: number) => Span
  readonly hintOf: (column: Column) => string
}

export function unstorableColumns(
  { hasStoredTypes }: TargetTypes,
  columns: readonly Column[],
  { source, spanOf, hintOf }: StoredPlaces,
): readonly Diagnostic[] {
  if (hasStoredTypes !== true) return []
  return columns.flatMap((column, i): readonly Diagnostic[] => {
    const { name, type } = column
    if (storedType(type) !== null) return []
    const place = { source, span: spanOf(i) }
    return [diagnostic('lake-type', { column: name, type }, place, hintOf(column))]
  })
}

const PLAIN = /^[a-z_]\w*$/

export function castToJson({ name }: Pick<Column, 'name'>): string {
  const column = PLAIN.test(name) ? name : `"${name.replaceAll('"', '""')}"`
  return `cast it: CAST(${column} AS JSON) AS ${column}`
}

/** What is known of a model once it is compiled, and holds as long as its file and the columns that it reads do. */
export interface ModelUnit {
  /** Without the checks of files of checks/. */
  readonly model: Model
  /** Those of its own file, or of its own data file, in the order in which they were found. */
  readonly warnings: readonly Diagnostic[]
  /** Names, in lower case, that it looked up and that no model has. */
  readonly absent: readonly string[]
}

export interface KeptUnit extends ModelUnit {
  readonly lineage: Lineage
  /** null: it has none. */
  readonly trails: Trails | null
}

/**
 * Models that an earlier compile understood and that nothing has changed since: they take part in a compile as they are. The
 * engine sees of them no more than an empty table, and only where a model that is compiled now reads it.
 */
export type KeptModels = ReadonlyMap<ModelName, KeptUnit>

export interface CompiledUnits {
  readonly project: CompiledProject
  /** One for each model that was bound, and for each that was kept. */
  readonly units: ReadonlyMap<ModelName, ModelUnit>
  /** Columns that the engine gave to models that are kept, where others read them. */
  readonly standIns: ReadonlyMap<ModelName, readonly Column[]>
}

/** Bound, it is an empty table with the columns of the model. */
export function draftKept({ model, warnings }: KeptUnit): Draft {
  return {
    name: model.name,
    dependsOn: model.dependsOn,
    complete: true,
    rows: () => sql`SELECT ${sql.nulls(model.columns)}`,
    placeOf: () => wholeFile(model.source.path),
    // It has no columns then, which are others than it had.
    explain: () => Promise.resolve([]),
    finish: () => Promise.resolve({ model, diagnostics: warnings }),
  }
}
