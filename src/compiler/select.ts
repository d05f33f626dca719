// Which models a command is about. A selector is a name, a pattern or a property, with `+` for what it reads and what
// reads it:
//
//   mart.sales   mart.*   *.orders   tag:nightly   kind:merge   state:modified
//   +mart.sales  (and all that it reads)      raw.orders+  (and all that reads it)      +core.orders+
//   source:crm  source:crm.customers  (what reads it)
//   tag:nightly,mart.*  (both hold)
//
// Several selectors add up. A model whose name has such characters is meant where the whole selector is its name.

import { reach, readersOf } from './graph.ts'
import { UsageError } from '../core/failures.ts'
import type { CompiledProject, FailedModel, Model } from '../core/model.ts'
import { foldCase, type ModelName, entitySetName, sameName } from '../core/names.ts'
import { nearest, didYouMean } from '../core/suggest.ts'
import { DiagnosticsError, type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { Schedule } from '../core/schedule.ts'
import { wildcard } from '../core/wildcard.ts'

export interface Selection {
  /** Empty: all models. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

export type Models = ReadonlyMap<ModelName, Model | FailedModel>

/**
 * The selected models, in the order of `models`. `isModified` is asked for `state:modified`, the only selector that may
 * match nothing. Throws UsageError for any other that does, with the nearest name.
 */
export function select(
  models: Models,
  { include, exclude }: Selection,
  isModified: (model: Model) => boolean,
): ReadonlySet<ModelName> {
  // What failed to compile is not what was built.
  const isChanged = (model: Model | FailedModel) => 'mistakes' in model || isModified(model)
  const union = (selectors: readonly string[]) =>
    new Set(selectors.flatMap((selector) => [...matchAll(models, selector, isChanged)]))
  const wanted = include.length === 0 ? new Set(models.keys()) : union(include)
  const unwanted = union(exclude)
  return new Set([...models.keys()].filter((name) => wanted.has(name) && !unwanted.has(name)))
}

/** The models of a project, and those that cannot be built. */
export const knownModels = ({
  models,
  failed,
}: Pick<CompiledProject, 'models' | 'failed'>): Models =>
  new Map<ModelName, Model | FailedModel>([...models, ...failed])

/** Throws UsageError for a selector that can never match. */
export function checkSelection(models: Models, selection: Selection): void {
  select(models, selection, () => true)
}

type Matcher = (model: Model | FailedModel) => boolean

function matchAll(models: Models, selector: string, isModified: Matcher): ReadonlySet<ModelName> {
  const exact = findByName(models, selector)
  if (exact !== null) return new Set([exact])
  const parts = selector.split(',').map((part) => matchOne(models, part.trim(), isModified))
  const [first = new Set<ModelName>(), ...others] = parts
  return new Set([...first].filter((name) => others.every((other) => other.has(name))))
}

function matchOne(models: Models, text: string, isModified: Matcher): ReadonlySet<ModelName> {
  const [, up = '', what = '', down = ''] = /^(\+?)(.*?)(\+?)$/s.exec(text) ?? []
  const found = [...models.values()].filter(matcherOf(what, isModified))
  if (found.length === 0 && what !== 'state:modified') throw matchesNothing(models, text, what)
  const names = new Set(found.map(({ name }) => name))
  const above = up === '' ? [] : reach(names, (name) => models.get(name)?.dependsOn ?? [])
  const below = down === '' ? [] : reach(names, readersOf(models.values()))
  return new Set([...names, ...above, ...below])
}

function matcherOf(what: string, isModified: Matcher): Matcher {
  const [, method, value = ''] = /^(tag|kind|source|state):(.*)$/s.exec(what) ?? []
  if (method === 'tag') return ({ tags }) => tags.some((tag) => foldCase(tag) === foldCase(value))
  if (method === 'kind') return ({ kind }) => kind === foldCase(value)
  if (method === 'source') {
    const wanted = foldCase(value)
    return ({ sources }) =>
      sources.some((name) => [name, name.split('.')[0]!].map(foldCase).includes(wanted))
  }
  if (method === 'state') return (model) => value === 'modified' && isModified(model)
  const pattern = wildcard(foldCase(what))
  return ({ name }) => pattern.test(foldCase(name))
}

function findByName(models: Models, text: string): ModelName | null {
  const folded = foldCase(text)
  for (const name of models.keys()) if (foldCase(name) === folded) return name
  return null
}

function matchesNothing(models: Models, text: string, what: string): UsageError {
  const all = [...models.values()]
  const schemas = all.map(({ name }) => `${name.slice(0, name.indexOf('.'))}.*`)
  const tags = all.flatMap((model) => model.tags.map((tag) => `tag:${tag}`))
  const kinds = all.flatMap(({ kind }) => (kind === null ? [] : [`kind:${kind}`]))
  const sources = all.flatMap((model) =>
    model.sources.flatMap((name) => [`source:${name.split('.')[0]!}`, `source:${name}`]),
  )
  const names = [...models.keys(), ...schemas, ...tags, ...kinds, ...sources]
  const known = new Set([...names, 'state:modified'])
  return new UsageError(`no model matches "${text}"`, {
    hint: hintFor(what, models, [...new Set(schemas)].toSorted(), known),
  })
}

const FORMS = 'a selector is a name, schema.*, tag:, kind:, source: or state:modified'

function hintFor(
  what: string,
  models: Models,
  schemas: readonly string[],
  known: ReadonlySet<string>,
): string {
  if (/^(?:\d+\+|@)|\+\d+$/.test(what))
    return 'write +NAME for all that a model reads, NAME+ for all that reads it; there is no depth'
  const [, method] = /^([a-z_]+):/i.exec(what) ?? []
  if (method !== undefined && !/^(?:tag|kind|source|state)$/.test(method))
    return `there is no "${method}:"; ${FORMS}`
  const meant = meantModel(models, what)
  if (meant !== null) return `did you mean "${meant}"?`
  const [, schema] = /^([^.*]+)\.\*$/.exec(what) ?? []
  const near =
    schema === undefined
      ? nearest(what, known)
      : nearest(
          schema,
          schemas.map((pattern) => pattern.slice(0, -2)),
        )
  if (near !== null) return `did you mean "${schema === undefined ? near : `${near}.*`}"?`
  return schema === undefined
    ? `${FORMS}; see "eider ls" for the models`
    : `the schemas are ${schemas.map((pattern) => pattern.slice(0, -2)).join(', ')}`
}

/** The only model whose table has the name, or that is made by the file. */
function meantModel(models: Models, typed: string): ModelName | null {
  const wanted = foldCase(typed)
  const isMeant = ({ name, source }: Model | FailedModel) =>
    foldCase(name).endsWith(`.${wanted}`) || foldCase(source.path) === wanted.replace(/^\.\//, '')
  const found = [...models.values()].filter(isMeant)
  return found.length === 1 ? found[0]!.name : null
}

/** By its name or that of its entity set. Throws UsageError with a suggestion, and the mistakes of one that failed. */
export function findModel(
  { models, failed }: Pick<CompiledProject, 'models' | 'failed'>,
  name: string,
): Model {
  const isMeant = (model: { readonly name: ModelName }) =>
    sameName(model.name, name) || sameName(entitySetName(model.name), name)
  for (const model of models.values()) if (isMeant(model)) return model
  const broken = [...failed.values()].find(isMeant)
  if (broken !== undefined)
    throw new DiagnosticsError(failed.get(broken.failedBy)?.mistakes ?? broken.mistakes)
  const meant = meantModel(knownModels({ models, failed }), name)
  const hint =
    meant === null
      ? (didYouMean(name, models.keys()) ?? 'see "eider ls" for the models')
      : `did you mean "${meant}"?`
  throw new UsageError(`there is no model or entity set "${name}"`, { hint })
}

export function scheduleMistakes(
  { runs, source }: Schedule,
  models: Models,
): readonly Diagnostic[] {
  return runs.flatMap(({ name, select, exclude }) =>
    [...select, ...exclude].flatMap(({ text, span }) => {
      const problem = problemOf(text, models)
      if (problem === null) return []
      const { message, hint = 'eider ls lists the models' } = problem
      const parameters = { run: name, problem: message }
      return [diagnostic('schedule-selector', parameters, { source, span }, hint)]
    }),
  )
}

function problemOf(selector: string, models: Models): UsageError | null {
  try {
    checkSelection(models, { include: [selector], exclude: [] })
    return null
  } catch (error) {
    if (error instanceof UsageError) return error
    throw error
  }
}
