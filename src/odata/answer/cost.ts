// How much work a query is, as far as can be told before it runs: small ones are admitted alongside long ones.

import { limits } from '../../core/limits.ts'
import type { BoundQuery } from '../bind/bound.ts'
import { mayReorder, sizeOf } from '../bind/size.ts'

/** Rows that it gives: no more than a page has, more, or the entity with a key, which lies in one place of the file. */
export type Extent = 'page' | 'more' | 'one'

/** Whether it ends soon: it looks at one set alone, without a query inside it, and at no more than some rows of that. */
export function isSmallQuery(query: BoundQuery, extent: Extent): boolean {
  const { relation, set, filter, output, expand, order } = query
  if (relation.kind !== 'set' || expand.length > 0 || extent === 'more') return false
  const perRow = [...(filter === null ? [] : [filter]), ...order.map(({ value }) => value)]
  if ([...perRow, ...output.map(({ value }) => value)].some(mayReorder)) return false
  const size = perRow.reduce((sum, expression) => sum + sizeOf(expression), 0)
  // What a token shows only a part of is read whole to find that part.
  if (set.only.length > 0) return set.storedRows * (size + 1) <= limits.smallQueryWork
  return extent === 'one' || set.relation.rows * size <= limits.smallQueryWork
}
