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
  const found: (Hit & { rank: number })[] = []
  for (const set of sets) {
    const rank = rankOf(words, set.name, set.description)
    const of = (view: 'rows' | 'columns') => ({ view, set: set.name, query: '' })
    if (rank !== undefined)
      found.push({ rank, route: of('rows'), title: set.name, detail: set.description ?? '' })
    for (const { name: title, description } of set.properties) {
      const columnRank = rankOf(words, `${set.name}.${title}`, description, title)
      const detail = description === undefined ? set.name : `${set.name}: ${description}`
      if (columnRank !== undefined)
        found.push({ rank: columnRank + 0.5, route: of('columns'), title, detail })
    }
  }
  return found.toSorted((a, b) => a.rank - b.rank).slice(0, MOST_HITS)
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
    isOwn ||= own.includes(word) || said.includes(word)
    const rank = own.startsWith(word) ? 0 : own.includes(word) ? 1 : said.includes(word) ? 2 : 3
    if (rank === 3 && !full.includes(word)) return undefined
    worst = Math.max(worst, rank)
  }
  // A column is not found by the name of its set alone.
  return isOwn ? worst : undefined
}
