// Search over what is published: sets, columns and what is said of them. In the page, without a request.

import type { Route } from '../address/route.ts'
import type { EntitySet } from './schema.ts'

export interface Hit {
  readonly route: Route
  readonly title: string
  /** The set of a column, or the description that was found. */
  readonly detail: string
}

const MOST_HITS = 20

/** All words must be found; those in names come before those in descriptions, beginnings before the rest. */
export function searchSets(sets: readonly EntitySet[], text: string): readonly Hit[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  const found: { hit: Hit; rank: number }[] = []
  for (const set of sets) {
    const rank = rankOf(words, set.name, set.description)
    if (rank !== undefined) found.push({ hit: setHit(set), rank })
    for (const { name, description } of set.properties) {
      const columnRank = rankOf(words, `${set.name}.${name}`, description, name)
      if (columnRank === undefined) continue
      found.push({ hit: columnHit(set, name, description), rank: columnRank + 0.5 })
    }
  }
  return found
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, MOST_HITS)
    .map(({ hit }) => hit)
}

function rankOf(
  words: readonly string[],
  fullName: string,
  description: string | undefined,
  ownName = fullName,
): number | undefined {
  const full = fullName.toLowerCase()
  const own = ownName.toLowerCase()
  const said = description?.toLowerCase() ?? ''
  let worst = 0
  let isOwn = false
  for (const word of words) {
    if (own.includes(word)) isOwn = true
    else if (said.includes(word)) isOwn = true
    const rank = own.startsWith(word) ? 0 : own.includes(word) ? 1 : said.includes(word) ? 2 : 3
    if (rank === 3 && !full.includes(word)) return undefined
    worst = Math.max(worst, rank)
  }
  // A column is not found by the name of its set alone.
  return isOwn ? worst : undefined
}

function setHit({ name, description }: EntitySet): Hit {
  return { route: { view: 'rows', set: name, query: '' }, title: name, detail: description ?? '' }
}

function columnHit(set: EntitySet, column: string, description: string | undefined): Hit {
  const detail = description === undefined ? set.name : `${set.name}: ${description}`
  return { route: { view: 'columns', set: set.name, query: '' }, title: column, detail }
}
