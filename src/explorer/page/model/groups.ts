// The sets as they are listed: by the schema of their models, with what the last run says of them.

import type { Catalog, CatalogModel } from '../../../core/catalog.ts'
import type { Schema } from './schema.ts'
import { type Verdict, verdicts } from './trust.ts'

export interface ListedSet {
  readonly name: string
  readonly description: string | undefined
  /** Undefined without a catalog. */
  readonly rows: number | undefined
  readonly verdict: Verdict
}

interface SetGroup {
  readonly schema: string
  readonly sets: readonly ListedSet[]
}

export function groupSets(schema: Schema, catalog: Catalog | null): readonly SetGroup[] {
  const verdictOf = catalog === null ? undefined : verdicts(catalog)
  const published = new Map(catalog?.sets.map((set) => [set.name, set]))
  const groups = new Map<string, ListedSet[]>()
  for (const { name, description } of schema.sets.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const facts = published.get(name)
    const verdict = verdictOf?.(facts?.model ?? '') ?? 'unknown'
    const group = facts?.model.split('.', 1)[0] ?? beforeLine(name)
    const listed = { name, description, rows: facts?.rows, verdict }
    groups.set(group, [...(groups.get(group) ?? []), listed])
  }
  return [...groups].map(([name, sets]) => ({ schema: name, sets }))
}

/** Those whose name has all the words. */
export function filterGroups(groups: readonly SetGroup[], wanted: string): readonly SetGroup[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
  return groups
    .map(({ schema, sets }) => ({
      schema,
      sets: sets.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word))),
    }))
    .filter(({ sets }) => sets.length > 0)
}

export function bySchema(
  models: readonly CatalogModel[],
): readonly (readonly [schema: string, models: readonly CatalogModel[]])[] {
  const groups = new Map<string, CatalogModel[]>()
  for (const model of models) {
    const schema = model.name.slice(0, model.name.indexOf('.'))
    groups.set(schema, [...(groups.get(schema) ?? []), model])
  }
  return [...groups]
}

/** Models of which name, owner, tags, checks and status together have all the words. */
export function modelsWith(
  { models, states }: Pick<Catalog, 'models' | 'states'>,
  wanted: string,
): readonly CatalogModel[] {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
  return models.filter(({ name, owner, tags, checks }) => {
    const facts = [name, owner, states[name]?.status, ...tags, ...checks.map(({ text }) => text)]
    const text = facts.join(' ').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

const LOUDEST_FIRST: readonly Verdict[] = ['failed', 'warned', 'unknown', 'good']

/** What a closed list of sets has to say. */
export const worstOf = (sets: readonly ListedSet[]): Verdict =>
  LOUDEST_FIRST.find((one) => sets.some(({ verdict }) => verdict === one)) ?? 'good'

/** Without a catalog: the name of a set is that of its model with a line for the point. */
function beforeLine(set: string): string {
  const at = set.indexOf('_')
  return at === -1 ? set : set.slice(0, at)
}
