// Whether a query leaves rows out, and of what. Where it picks the newest row of each key and then leaves some of them out,
// a row goes from its result because another one has come, which has other values everywhere but in the key.

import type { Trails } from '../../core/addresses.ts'
import { sameName } from '../../core/names.ts'
import { columnNames, nodesIn, type SyntaxNode } from '../../duckdb/syntax.ts'

export function leftOutBy(query: SyntaxNode): Trails['leavesOut'] {
  const nodes = nodesIn(query)
  const selects = nodes.filter(({ type }) => type === 'SELECT_NODE')
  const hasPicked = nodes.some(({ cte_map: ctes }) => nodesIn(ctes).some(picks))
  const readsPicked = ({ from_table: from }: SyntaxNode): boolean =>
    nodesIn(from).some((node) => picks(node) || (hasPicked && isCte(node)))
  const isPicked = (select: SyntaxNode): boolean =>
    filtersQualified(select) || (filters(select) && readsPicked(select))
  if (selects.some(isPicked)) return 'picked'
  return selects.some(filters) ? 'read' : null
}

const picks = ({ class: is, type }: SyntaxNode): boolean =>
  is === 'WINDOW' ||
  ['LIMIT_MODIFIER', 'LIMIT_PERCENT_MODIFIER', 'DISTINCT_MODIFIER'].includes(String(type))

/** Models have a schema. */
const isCte = ({ type, schema_name: schema }: SyntaxNode): boolean =>
  type === 'BASE_TABLE' && schema === ''

const filters = ({ where_clause: where, having }: SyntaxNode): boolean =>
  having != null || (where != null && !isFirst(where as SyntaxNode))

/** `… = 1`, which takes the first row of each key by its number. */
function isFirst({ type, right }: SyntaxNode): boolean {
  const { value } = ((right as SyntaxNode | undefined)?.['value'] ?? {}) as SyntaxNode
  return type === 'COMPARE_EQUAL' && value === 1
}

/** QUALIFY has a condition beside that on the window. */
const filtersQualified = ({ qualify }: SyntaxNode): boolean =>
  (qualify as SyntaxNode | null)?.['type'] === 'CONJUNCTION_AND'

/** Windows that give rows a value of other rows, not those that only pick rows by it. */
export function windowsOfValues(query: SyntaxNode): readonly SyntaxNode[] {
  const nodes = nodesIn(query)
  const picking = new Set(
    nodes.flatMap((select) => [...nodesIn(select['qualify']), ...heldToOneValue(select)]),
  )
  const inside = new Set(
    nodes.flatMap(({ from_table: from, cte_map: ctes }) => nodesIn([from, ctes])),
  )
  // A number that a query of FROM gives is one to filter by.
  const isPicking = (node: SyntaxNode): boolean =>
    picking.has(node) || (inside.has(node) && numbersRows(node))
  return nodes.filter((node) => node['class'] === 'WINDOW' && !isPicking(node))
}

/** What a SELECT gives by windows, where QUALIFY leaves the rows with one value of it: `rn`, with `QUALIFY rn = 1`. */
function heldToOneValue({ qualify, select_list: items }: SyntaxNode): readonly SyntaxNode[] {
  const { type, children } = (qualify ?? {}) as SyntaxNode
  const conditions = (type === 'CONJUNCTION_AND' ? children : [qualify]) as readonly unknown[]
  const names = conditions.flatMap((condition) => {
    const { type: is, left, right } = (condition ?? {}) as SyntaxNode
    const isValue = (right as SyntaxNode | undefined)?.['class'] === 'CONSTANT'
    return is === 'COMPARE_EQUAL' && isValue ? (columnNames(left) ?? []) : []
  })
  return ((items ?? []) as readonly SyntaxNode[]).filter(({ alias }) =>
    names.some((name) => sameName(name, String(alias))),
  )
}

/** A place of a row among others, which is asked for to pick rows by. */
export const numbersRows = ({ type }: SyntaxNode): boolean => NUMBERS.has(String(type))

const NUMBERS: ReadonlySet<string> = new Set([
  'WINDOW_ROW_NUMBER',
  'WINDOW_RANK',
  'WINDOW_RANK_DENSE',
])
