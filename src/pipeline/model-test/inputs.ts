// What a test of a model has to give, and what is built between that and the model.

import type { CompiledProject, Model } from '../../core/model.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { didYouMean } from '../../core/suggest.ts'
import { ModelFailure } from '../failure.ts'

export interface TestInput {
  readonly name: string
  readonly columns: readonly Column[]
  /** null: a table of a source. */
  readonly model: Model | null
}

export interface Inputs {
  /** Tables with the rows of fixtures, or none. */
  readonly tables: readonly TestInput[]
  /** In the order of the DAG, the model of the test last. */
  readonly built: readonly Model[]
}

/** Events, seeds and sources are tables in any case. Throws ModelFailure for a fixture of something else. */
export function inputsOf(
  { models, external }: CompiledProject,
  target: Model,
  given: readonly { readonly relation: string; readonly path: string }[],
): Inputs {
  const isGiven = new Set(given.map(({ relation }) => foldCase(relation)))
  // Events of an events model are given to itself.
  const isItself = (relation: string) =>
    target.kind === 'events' && foldCase(relation) === foldCase(target.name)
  const tables = new Map<string, TestInput>()
  const built = new Set<ModelName>([target.name])
  for (const name of built) {
    const model = models.get(name)!
    for (const source of model.sources) {
      const columns = external?.tables.find((table) => table.name === source)?.columns ?? []
      tables.set(foldCase(source), { name: source, columns, model: null })
    }
    for (const input of model.dependsOn) {
      const read = models.get(input)!
      const isTable = isGiven.has(foldCase(input)) || read.kind === 'events' || read.kind === 'seed'
      if (isTable) tables.set(foldCase(input), { name: input, columns: read.columns, model: read })
      else built.add(input)
    }
  }
  for (const { relation, path } of given)
    if (!tables.has(foldCase(relation)) && !isItself(relation)) {
      const own = target.kind === 'events' ? [target.name] : []
      const names = [...own, ...Array.from(tables.values(), ({ name }) => name)]
      const hint = didYouMean(relation, names) ?? `it reads ${names.join(', ') || 'nothing'}`
      throw new ModelFailure(
        `${path}: ${target.name} does not read "${relation}"; ${hint}`,
        'placed',
      )
    }
  const ordered = [...models.values()].filter(({ name }) => built.has(name))
  return { tables: [...tables.values()], built: ordered }
}
