// UNION and its like over SELECTs that differ in their number of columns, which DuckDB does not place.

import type { SyntaxNode } from '../../duckdb/syntax.ts'
import { firstLocation } from '../exposure.ts'
import type { Location } from '../sql/references.ts'

interface UnevenOperation {
  readonly left: number
  readonly right: number
  /** The place of the first column of the right SELECT. */
  readonly at: Location
}

/** The first one whose two lists are both written out; null where a star leaves it open. */
export function unevenOperation(node: unknown): UnevenOperation | null {
  if (typeof node !== 'object' || node === null) return null
  const { left, right } = node as SyntaxNode
  if (left !== undefined && right !== undefined) {
    const [one, other] = [left, right].map((side) => columnsOf(side as SyntaxNode))
    if (one != null && other != null && one !== other)
      return { left: one, right: other, at: firstLocation(listOf(right as SyntaxNode)?.[0]) }
  }
  for (const child of Object.values(node)) {
    const found = unevenOperation(child)
    if (found !== null) return found
  }
  return null
}

function listOf(node: SyntaxNode): readonly SyntaxNode[] | undefined {
  let first = node
  while (first['left'] !== undefined) first = first['left'] as SyntaxNode
  return first['select_list'] as readonly SyntaxNode[] | undefined
}

function columnsOf(node: SyntaxNode): number | null {
  const list = listOf(node)
  return list === undefined || list.some((item) => item['class'] === 'STAR') ? null : list.length
}
