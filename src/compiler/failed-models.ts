// Which models cannot be built when files have mistakes: those of the files, and all that read them. The others compile
// and are built as if nothing had happened.

import { type Diagnostic, hasErrors, diagnostic } from '../core/diagnostics.ts'
import type { FailedModel, Kind, Model } from '../core/model.ts'
import { foldCase, type ModelName } from '../core/names.ts'
import type { ProjectFiles } from '../core/project.ts'
import { type SourceFile, positionOf } from '../core/source-text.ts'
import { type GraphNode, readersOf } from './graph.ts'
import type { Draft } from './bind/draft.ts'

export interface NamedFile {
  readonly name: ModelName
  readonly source: SourceFile
}

/** What is known of a file that was parsed, also where too little was understood to compile it. */
export interface Understanding {
  readonly kind: Kind | null
  readonly tags: readonly string[]
  readonly isExposed: boolean
}

export class Mistakes {
  readonly #owners: ReadonlyMap<string, ModelName>
  readonly #byModel = new Map<ModelName, Diagnostic[]>()

  /** `names`: the file of each name, by the name in lower case. */
  constructor(files: ProjectFiles, names: ReadonlyMap<string, NamedFile>) {
    this.#owners = ownersOf(files, names)
  }

  /** Each error goes to the model that its file defines, if any. */
  add(found: readonly Diagnostic[]): void {
    for (const item of found) {
      const owner = this.#owners.get(item.source.path)
      if (item.severity === 'error' && owner !== undefined) this.blame([owner], [item])
    }
  }

  /** For mistakes elsewhere that are in the way of these models. */
  blame(models: readonly ModelName[], errors: readonly Diagnostic[]): void {
    for (const model of errors.length === 0 ? [] : models) {
      const known = this.#byModel.get(model) ?? []
      this.#byModel.set(model, [...known, ...errors.filter((item) => !known.includes(item))])
    }
  }

  of(model: ModelName): readonly Diagnostic[] {
    return this.#byModel.get(model) ?? []
  }
}

/** Name of the model that a file decides about, by its path: a model, a seed, or the .yml next to a seed. */
function ownersOf(
  { models, seeds, unreadable = [], problems = [] }: ProjectFiles,
  names: ReadonlyMap<string, NamedFile>,
): ReadonlyMap<string, ModelName> {
  const owners = new Map<string, ModelName>()
  const own = (path: string, name: ModelName) =>
    owners.set(path, names.get(foldCase(name))?.name ?? name)
  for (const { name, source } of [...models, ...unreadable]) own(source.path, name)
  for (const { name, path, types, checks = [] } of seeds) {
    own(path, name)
    for (const { source } of [...types, ...checks]) own(source.path, name)
  }
  // A .yml with mistakes may have given no types.
  const stem = (path: string) => path.slice(0, path.lastIndexOf('.'))
  const stems = new Map(seeds.map(({ path, name }) => [stem(path), name]))
  for (const { source } of problems) {
    const name = stems.get(stem(source.path))
    if (name !== undefined && !owners.has(source.path)) own(source.path, name)
  }
  return owners
}

interface CompileFacts {
  readonly names: readonly NamedFile[]
  readonly understood: ReadonlyMap<ModelName, Understanding>
  /** What models read, as far as it was understood; what comes later holds. */
  readonly reads: readonly (GraphNode & { readonly sources?: readonly string[] })[]
  readonly mistakes: Mistakes
  readonly finished: ReadonlyMap<ModelName, Model>
}

/** The models that are not to be built, in the order of their names. */
export function failedModels(compiled: CompileFacts): ReadonlyMap<ModelName, FailedModel> {
  const { names, understood, reads, mistakes, finished } = compiled
  const roots = rootsOf(compiled)
  const failed: FailedModel[] = []
  for (const { name, source } of names) {
    const failedBy = roots.get(name) ?? (finished.has(name) ? null : name)
    if (failedBy === null) continue
    const { kind = null, tags = [], isExposed = false } = understood.get(name) ?? {}
    const known = reads.filter((read) => read.name === name)
    const dependsOn = known.at(-1)?.dependsOn ?? []
    const sources = known.flatMap((read) => read.sources ?? [])
    const own = mistakes.of(name)
    const said = { name, source, kind, tags, isExposed }
    failed.push({ ...said, sources, dependsOn, mistakes: own, failedBy })
  }
  const sorted = failed.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return new Map(sorted.map((model) => [model.name, model]))
}

/** For each model with mistakes, and each that reads one, the model whose mistakes they are. */
function rootsOf({ names, reads, mistakes }: CompileFacts): ReadonlyMap<ModelName, ModelName> {
  const roots = new Map<ModelName, ModelName>()
  const withMistakes = Array.from(names, ({ name }) => name).filter((name) =>
    hasErrors(mistakes.of(name)),
  )
  if (withMistakes.length === 0) return roots
  const readers = readersOf(reads)
  for (const name of withMistakes) roots.set(name, name)
  const open = withMistakes.toSorted()
  for (let name = open.shift(); name !== undefined; name = open.shift())
    for (const reader of readers(name))
      if (!roots.has(reader)) {
        roots.set(reader, roots.get(name)!)
        open.push(reader)
      }
  return roots
}

/** At the annotation that closes the circle where there is one: it is easier to remove than a table of a query. */
export function cycleDiagnostic(cycle: readonly ModelName[], drafts: readonly Draft[]): Diagnostic {
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
  return diagnostic('dependency-cycle', { models: cycle }, place, hint)
}
