// A compiled project as three lines of JSON and back. Texts of files are not in it: places in them are kept as offsets, so
// it is valid only together with the files that were compiled. The second line is the lineage, which few commands read;
// the third has what a compile of another state of the project needs to keep models of this one.

import type { Diagnostic } from '../../core/diagnostics.ts'
import type { Trails } from '../../core/addresses.ts'
import type {
  Check,
  CompiledProject,
  FailedModel,
  Lineage,
  Macro,
  Model,
} from '../../core/model.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import type { ProjectFiles } from '../../core/project.ts'
import type { Column } from '../../core/relation.ts'
import type { SourceFile, Span } from '../../core/source-text.ts'
import type { Variables } from '../../core/variables.ts'
import type { CompiledUnits, KeptUnit, KeptModels } from '../bind/draft.ts'
import { bodyOf } from '../variables.ts'

interface SavedProject {
  readonly models: readonly SavedModel[]
  readonly macros: readonly { readonly name: string; readonly body: SavedBody }[]
  readonly macrosAreWhole: boolean
  readonly warnings: readonly SavedDiagnostic[]
  readonly errors: readonly SavedDiagnostic[]
  readonly failed: readonly SavedFailure[]
}

/** `mistakes`: places in `errors`. */
type SavedFailure = Omit<FailedModel, 'source' | 'mistakes'> & {
  readonly source: string
  readonly mistakes: readonly number[]
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

/** For each model, with what gives its columns their values; null: it has no query that shows it. */
type SavedLineage = readonly (readonly [ModelName, Lineage, Trails | null])[]

/** The members of a model; `source` is a path and `body` a place in its text. */
type SavedModel = Omit<Model, 'source' | 'body' | 'checks'> & {
  readonly source: string
  readonly body?: Span
  readonly checks: readonly SavedCheck[]
}

/** `source` is a path, where it is not that of the model. */
type SavedCheck = Omit<Check, 'test' | 'source' | 'where'> & {
  readonly source?: string
  readonly where?: Span
  readonly test:
    | Exclude<Check['test'], { readonly body: unknown }>
    | { readonly is: 'condition' | 'query'; readonly body: Span }
}

/** `source` is a path, or a part of a data file. */
type SavedDiagnostic = Omit<Diagnostic, 'source'> & { readonly source: string | SourceFile }

interface SavedBody extends Span {
  readonly source: string
}

type Sources = ReadonlyMap<string, SourceFile>

/**
 * null when something in it does not lie in the files. All of `models` have a unit, and those that do not compile will not
 * do so either as long as the files are the same. `hashes`: of the files of each model.
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
    failed: Array.from(project.failed.values(), ({ source, mistakes, ...model }) => ({
      ...model,
      source: source.path,
      mistakes: mistakes.map((mistake) => errors.indexOf(mistake)),
    })),
  }
  const trails = project.trails()
  const lineage: SavedLineage = Array.from(project.lineage(), ([name, columns]) => [
    name,
    columns,
    trails.get(name) ?? null,
  ])
  const savedUnits = Array.from(project.models.values(), saveUnit)
  return [saved, lineage, savedUnits].map((line) => JSON.stringify(line)).join('\n')
}

/** `text` is what saveProject() returned for a project with these files. */
export function restoreProject(text: string, files: ProjectFiles): CompiledProject {
  const restoring = restoringFrom(files)
  const { sourceOf, variables, diagnosticOf } = restoring
  const [first = '', second = ''] = text.split('\n')
  const saved = JSON.parse(first) as SavedProject
  const models = saved.models.map((model) => restoreModel(model, restoring))
  const errors = saved.errors.map(diagnosticOf)
  const failed = saved.failed.map(({ source, mistakes, ...model }): FailedModel => ({
    ...model,
    source: sourceOf(source),
    mistakes: mistakes.map((at) => errors[at]!),
  }))
  return {
    models: new Map(models.map((model) => [model.name, model])),
    macros: saved.macros.map(({ name, body: { source, start, end } }): Macro => ({
      name,
      body: bodyOf(sourceOf(source), { start, end }, variables).body,
    })),
    lineage: () => new Map(lineageIn(second).map(([name, columns]) => [name, columns])),
    trails: () =>
      new Map(lineageIn(second).flatMap((one) => (one[2] === null ? [] : [[one[0], one[2]]]))),
    macrosAreWhole: saved.macrosAreWhole,
    warnings: saved.warnings.map(diagnosticOf),
    errors,
    failed: new Map(failed.map((model) => [model.name, model])),
  }
}

const lineageIn = (line: string) => JSON.parse(line) as SavedLineage

export interface RestoredUnits {
  readonly kept: KeptModels
  readonly columns: ReadonlyMap<ModelName, readonly Column[]>
  readonly givers: ReadonlyMap<ModelName, Model['givers']>
}

/**
 * The models among these files that are as they were: their own files, by `hashes`, and what the names mean that they
 * read.
 */
export function restoreUnits(
  text: string,
  files: ProjectFiles,
  hashes: ReadonlyMap<ModelName, string>,
): RestoredUnits {
  const restoring = restoringFrom(files)
  const [first = '', second = '', third = ''] = text.split('\n')
  const saved = JSON.parse(first) as SavedProject
  const units = JSON.parse(third) as readonly SavedUnit[]
  const lineage = new Map(lineageIn(second).map(([name, ...found]) => [name, found]))
  const names = new Set(Array.from(hashes.keys(), foldCase))
  const kept = saved.models.flatMap((whole, i): readonly KeptUnit[] => {
    const { hash, warnings = [], absent = [], own } = units[i]!
    const { name } = whole
    if (hasUnsureColumns(whole) || hashes.get(name) !== hash) return []
    const alone =
      own === undefined ? whole : { ...whole, ...own, checks: whole.checks.slice(0, own.checks) }
    const isSameNames =
      alone.dependsOn.every((read) => hashes.has(read)) && !absent.some((read) => names.has(read))
    if (!isSameNames) return []
    const model = restoreModel(alone, restoring)
    const restored = warnings.map(restoring.diagnosticOf)
    const [columns, trails] = lineage.get(name) ?? [[], null]
    return [{ model, warnings: restored, absent, lineage: columns, trails }]
  })
  return {
    kept: new Map(kept.map((unit) => [unit.model.name, unit])),
    columns: new Map(saved.models.map(({ name, columns }) => [name, columns])),
    givers: new Map(saved.models.map(({ name, givers }) => [name, givers])),
  }
}

/** Such a model is compiled each time. */
export const hasUnsureColumns = ({ volatile, varies }: Pick<Model, 'volatile' | 'varies'>) =>
  volatile && varies === undefined

/** What a saved project was made of. */
interface Restoring {
  /** A file that is known to be there. */
  readonly sourceOf: (path: string) => SourceFile
  readonly variables: Variables
  readonly diagnosticOf: (saved: SavedDiagnostic) => Diagnostic
}

function restoringFrom(files: ProjectFiles): Restoring {
  const sources = sourcesOf(files)
  const sourceOf = (path: string) => {
    const source = sources.get(path)
    if (source === undefined) throw new Error(`a saved project has another file ${path}`)
    return source
  }
  const diagnosticOf = (item: SavedDiagnostic) => {
    return {
      ...item,
      source: typeof item.source === 'string' ? sourceOf(item.source) : item.source,
    }
  }
  return { sourceOf, variables: files.variables ?? new Map(), diagnosticOf }
}

function saveModel(model: Model): SavedModel {
  const saved = { ...model, source: model.source.path, checks: model.checks.map(saveCheck) }
  return 'body' in model ? { ...saved, body: model.body.span } : (saved as SavedModel)
}

function restoreModel(saved: SavedModel, restoring: Restoring): Model {
  const { body } = saved
  const source = restoring.sourceOf(saved.source)
  const checks = saved.checks.map((check) => restoreCheck(check, restoring, source))
  const model = { ...saved, source, checks } as unknown as Model
  if (body === undefined) return model
  return { ...model, body: bodyOf(source, body, restoring.variables).body } as Model
}

function saveCheck({ source, test, where, ...check }: Check): SavedCheck {
  const saved = 'body' in test ? { ...test, body: test.body.span } : test
  return {
    ...check,
    test: saved,
    ...(where === undefined ? {} : { where: where.span }),
    ...(source === undefined ? {} : { source: source.path }),
  }
}

function restoreCheck(
  { source: path, test, where, ...check }: SavedCheck,
  restoring: Restoring,
  own: SourceFile,
): Check {
  const source = path === undefined ? own : restoring.sourceOf(path)
  const bodyAt = (span: Span) => bodyOf(source, span, restoring.variables).body
  const restored = {
    ...check,
    ...(where === undefined ? {} : { where: bodyAt(where) }),
    ...(path === undefined ? {} : { source }),
  }
  if (!('body' in test)) return { ...restored, test }
  const body = bodyAt(test.body)
  return { ...restored, test: { ...test, body } }
}

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
