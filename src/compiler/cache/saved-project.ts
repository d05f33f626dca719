// A compiled project as three lines of JSON and back. Texts of files are not in it: places in them are kept as offsets, so
// it is valid only together with the files that were compiled. The second line is the lineage, which few commands read;
// the third has what a compile of another state of the project needs to keep models of this one.

import type { Diagnostic } from '../../core/diagnostics.ts'
import type { Check, CompiledProject, Lineage, Macro, Model } from '../../core/model.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import type { ProjectFiles } from '../../core/project.ts'
import type { Column } from '../../core/relation.ts'
import type { SourceFile, Span } from '../../core/source.ts'
import type { SqlValue } from '../../core/sql.ts'
import type { Variables } from '../../core/variables.ts'
import type { CompiledUnits, KeptUnit, KeptModels } from '../bind/draft.ts'
import { bodyOf } from '../variables.ts'

interface SavedProject {
  readonly models: readonly SavedModel[]
  readonly macros: readonly { readonly name: string; readonly body: SavedBody }[]
  readonly macrosAreWhole: boolean
  readonly warnings: readonly SavedDiagnostic[]
  readonly errors: readonly SavedDiagnostic[]
}

/** One for each model, in the order of `models`. */
interface SavedUnit {
  /** Hash of the files that say what the model is. */
  readonly hash: string
  readonly warnings?: readonly SavedDiagnostic[]
  readonly absent?: readonly string[]
  /** The model without the checks of files in checks/, where it has some; `checks`: how many are in its own file. */
  readonly own?: Pick<Model, 'dependsOn' | 'definition'> & { readonly checks: number }
}

type SavedLineage = readonly (readonly [ModelName, Lineage])[]

/** The members of a model; `source` is a path and `body` a place in its text. */
type SavedModel = Omit<Model, 'source' | 'body' | 'checks'> & {
  readonly source: string
  readonly body?: Span
  readonly checks: readonly SavedCheck[]
}

type SavedCheck = Omit<Check, 'test' | 'source'> & {
  /** A path, where it is not that of the model. */
  readonly source?: string
  readonly test: Readonly<Record<string, unknown>>
}
/** `source` is a path, or a part of a data file. */
type SavedDiagnostic = Omit<Diagnostic, 'source'> & { readonly source: string | SourceFile }

interface SavedBody extends Span {
  readonly source: string
}

type Sources = ReadonlyMap<string, SourceFile>

/**
 * null when something in it does not lie in the files. All its models compile, and have a unit. `hashes`: of the files of
 * each model.
 */
export function saveProject(
  { project, units }: CompiledUnits,
  files: ProjectFiles,
  hashes: ReadonlyMap<ModelName, string>,
): string | null {
  const sources = sourcesOf(files)
  const { errors } = project
  const places = [...project.warnings, ...errors].map(({ source }) => source)
  if (places.some(({ path }) => !sources.has(path))) return null
  const saveDiagnostic = (item: Diagnostic): SavedDiagnostic => {
    const { path, text } = item.source
    return { ...item, source: sources.get(path)?.text === text ? path : item.source }
  }
  const saveUnit = (whole: Model): SavedUnit => {
    const { model, warnings, absent } = units.get(whole.name)!
    const { dependsOn, definition, checks } = model
    return {
      hash: hashes.get(whole.name)!,
      ...(warnings.length === 0 ? {} : { warnings: warnings.map(saveDiagnostic) }),
      ...(absent.length === 0 ? {} : { absent }),
      ...(model === whole ? {} : { own: { dependsOn, definition, checks: checks.length } }),
    }
  }
  const saved: SavedProject = {
    models: Array.from(project.models.values(), saveModel),
    macros: project.macros.map(({ name, body }) => ({
      name,
      body: { source: body.source.path, ...body.span },
    })),
    macrosAreWhole: project.macrosAreWhole,
    warnings: project.warnings.map(saveDiagnostic),
    errors: errors.map(saveDiagnostic),
  }
  const lineage: SavedLineage = [...project.lineage()]
  const savedUnits = Array.from(project.models.values(), saveUnit)
  return [saved, lineage, savedUnits].map((line) => JSON.stringify(line)).join('\n')
}

/** `text` is what saveProject() returned for a project with these files. */
export function restoreProject(text: string, files: ProjectFiles): CompiledProject {
  const sourceOf = finderOf(files)
  const variables = files.variables ?? new Map()
  const [first = '', second = ''] = text.split('\n')
  const saved = JSON.parse(first) as SavedProject
  const models = saved.models.map((model) => restoreModel(model, sourceOf, variables))
  const restoreDiagnostic = diagnosticsFrom(sourceOf)
  return {
    models: new Map(models.map((model) => [model.name, model])),
    macros: saved.macros.map(({ name, body: { source, start, end } }): Macro => ({
      name,
      body: bodyOf(sourceOf(source), { start, end }, variables).body,
    })),
    lineage: () => new Map(JSON.parse(second) as SavedLineage),
    macrosAreWhole: saved.macrosAreWhole,
    warnings: saved.warnings.map(restoreDiagnostic),
    errors: saved.errors.map(restoreDiagnostic),
    failed: new Map(),
  }
}

export interface RestoredUnits {
  readonly kept: KeptModels
  /** The columns of all models that were saved. */
  readonly columns: ReadonlyMap<ModelName, readonly Column[]>
}

/**
 * The models among these files that are as they were: their own files, by `hashes`, and what the names mean that they
 * read. A volatile one is never.
 */
export function restoreUnits(
  text: string,
  files: ProjectFiles,
  hashes: ReadonlyMap<ModelName, string>,
): RestoredUnits {
  const sourceOf = finderOf(files)
  const restoreDiagnostic = diagnosticsFrom(sourceOf)
  const variables = files.variables ?? new Map()
  const [first = '', second = '', third = ''] = text.split('\n')
  const saved = JSON.parse(first) as SavedProject
  const units = JSON.parse(third) as readonly SavedUnit[]
  const lineage = new Map(JSON.parse(second) as SavedLineage)
  const names = new Set(Array.from(hashes.keys(), foldCase))
  const kept = saved.models.flatMap((whole, i): readonly KeptUnit[] => {
    const { hash, warnings = [], absent = [], own } = units[i]!
    const { name, volatile } = whole
    if (volatile || hashes.get(name) !== hash) return []
    const alone =
      own === undefined ? whole : { ...whole, ...own, checks: whole.checks.slice(0, own.checks) }
    const isSameNames =
      alone.dependsOn.every((read) => hashes.has(read)) && !absent.some((read) => names.has(read))
    if (!isSameNames) return []
    const model = restoreModel(alone, sourceOf, variables)
    const restored = warnings.map(restoreDiagnostic)
    return [{ model, warnings: restored, absent, lineage: lineage.get(name) ?? [] }]
  })
  return {
    kept: new Map(kept.map((unit) => [unit.model.name, unit])),
    columns: new Map(saved.models.map(({ name, columns }) => [name, columns])),
  }
}

/** Finds a file that is known to be there. */
function finderOf(files: ProjectFiles): (path: string) => SourceFile {
  const sources = sourcesOf(files)
  return (path) => {
    const source = sources.get(path)
    if (source === undefined) throw new Error(`a saved project has another file ${path}`)
    return source
  }
}

const diagnosticsFrom =
  (sourceOf: (path: string) => SourceFile) =>
  (item: SavedDiagnostic): Diagnostic => ({
    ...item,
    source: typeof item.source === 'string' ? sourceOf(item.source) : item.source,
  })

function saveModel(model: Model): SavedModel {
  const saved = { ...model, source: model.source.path, checks: model.checks.map(saveCheck) }
  return 'body' in model ? { ...saved, body: model.body.span } : (saved as SavedModel)
}

function restoreModel(
  saved: SavedModel,
  sourceOf: (path: string) => SourceFile,
  variables: Variables,
): Model {
  const { body } = saved
  const source = sourceOf(saved.source)
  const checks = saved.checks.map(({ source: path, ...check }) => {
    if (path === undefined) return restoreCheck(check, source, variables)
    const own = sourceOf(path)
    return { ...restoreCheck(check, own, variables), source: own }
  })
  const model = { ...saved, source, checks }
  return (
    body === undefined ? model : { ...model, body: bodyOf(source, body, variables).body }
  ) as Model
}

function saveCheck({ source, ...rest }: Check): SavedCheck {
  const { test } = rest
  const check = { ...rest, ...(source === undefined ? {} : { source: source.path }) }
  switch (test.is) {
    case 'query':
    case 'condition':
      return { ...check, test: { is: test.is, body: test.body.span } }
    case 'row_count':
      return { ...check, test: { ...test, rows: String(test.rows) } }
    case 'accepted':
      return { ...check, test: { ...test, values: test.values.map(saveValue) } }
    default:
      return { ...check, test: { ...test } }
  }
}

function restoreCheck(
  check: Omit<SavedCheck, 'source'>,
  source: SourceFile,
  variables: Variables,
): Check {
  const test = check.test as unknown as Check['test']
  switch (test.is) {
    case 'query':
    case 'condition': {
      const { body } = bodyOf(source, check.test['body'] as Span, variables)
      return { ...check, test: { ...test, body } }
    }
    case 'row_count':
      return { ...check, test: { ...test, rows: BigInt(test.rows) } }
    case 'accepted':
      return { ...check, test: { ...test, values: test.values.map(restoreValue) } }
    default:
      return { ...check, test }
  }
}

/** JSON has no integers of any size. */
const saveValue = (value: SqlValue) => (typeof value === 'bigint' ? { bigint: `${value}` } : value)

const restoreValue = (value: unknown): SqlValue =>
  typeof value === 'object' && value !== null && 'bigint' in value
    ? BigInt(value.bigint as string)
    : (value as SqlValue)

function sourcesOf({
  models,
  unreadable = [],
  seeds,
  macros,
  checks = [],
  problems = [],
}: ProjectFiles): Sources {
  const all = [
    ...problems.map(({ source }) => source),
    ...[...models, ...unreadable].map(({ source }) => source),
    ...seeds.map(({ path }) => ({ path, text: '' })),
    ...seeds.flatMap(({ types }) => types.map(({ source }) => source)),
    ...seeds.flatMap((seed) => (seed.checks ?? []).map(({ source }) => source)),
    ...macros,
    ...checks,
  ]
  return new Map(all.map((source) => [source.path, source]))
}
