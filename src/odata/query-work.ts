// How much work a query is, as far as that is known before it runs: small ones are let in beside many that may take long.

import { limits } from '../core/limits.ts'
import type { BoundQuery } from './bound.ts'
import { mayReorder, sizeOf } from './expression-size.ts'

/**
 * Whether it ends soon: it looks at one set alone, without a query inside it, and at no more than some rows of that.
 * `isOne`: at the entity with a key, which lies in one place of the file.
 */
export function isSmallQuery(query: BoundQuery, isOne = false): boolean {
  const { relation, set, filter, output, expand, order } = query
  if (relation.kind !== 'set' || expand.length > 0) return false
  const perRow = [...(filter === null ? [] : [filter]), ...order.map(({ value }) => value)]
  if ([...perRow, ...output.map(({ value }) => value)].some(mayReorder)) return false
  const size = perRow.reduce((sum, expression) => sum + sizeOf(expression), 0)
  return isOne || set.relation.rows * size <= limits.smallQueryWork
}
