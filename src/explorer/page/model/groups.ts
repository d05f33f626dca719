// The sets as they are listed: by the schema of their models, with what the last run says of them.

import type { Catalog } from '../../../core/catalog.ts'
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

/** Without a catalog: the name of a set is that of its model with a line for the point. */
function beforeLine(set: string): string {
  const at = set.indexOf('_')
  return at === -1 ? set : set.slice(0, at)
}
