// Whether a query picks rows by others, so that one may go because another has come: the last three of each group, or those
// of the last days before the greatest one. Where this file does not understand a query, it may.

import { nodesIn, isColumn, isSubquery, type SyntaxNode } from '../../duckdb/syntax.ts'
import { aggregates } from '../measures/aggregates.ts'

export function picksRows(query: SyntaxNode): boolean {
  const nodes = nodesIn(query)
  if (nodes.some((node) => isSubquery(node) || isLimit(node))) return true
  if (nodes.some((node) => node['class'] === 'WINDOW') && !takesNewest(query)) return true
  if (!nodes.some(({ type }) => type === 'JOIN')) return false
  return nodes.some(comparesTwo) || groupsInside(query)
}

const isLimit = ({ type }: SyntaxNode): boolean =>
  type === 'LIMIT_MODIFIER' || type === 'LIMIT_PERCENT_MODIFIER'

/** `row_number() OVER (…) = 1` in QUALIFY: a row goes for another one of its key, as if that were updated. */
function takesNewest(query: SyntaxNode): boolean {
  const qualify = query['qualify'] as SyntaxNode | null | undefined
  const windows = nodesIn(query).filter((node) => node['class'] === 'WINDOW')
  if (qualify?.['type'] !== 'COMPARE_EQUAL' || windows.length !== 1) return false
  const [left, right] = [qualify['left'], qualify['right']] as [SyntaxNode, SyntaxNode]
  const { value } = (right['value'] ?? {}) as SyntaxNode
  return left === windows[0] && left['type'] === 'WINDOW_ROW_NUMBER' && value === 1
}

/** Other than by `=`, which joins rows and picks none. */
function comparesTwo(node: SyntaxNode): boolean {
  const sides =
    node['class'] === 'BETWEEN'
      ? [node['input'], node['lower'], node['upper']]
      : node['class'] === 'COMPARISON' && node['type'] !== 'COMPARE_EQUAL'
        ? [node['left'], node['right']]
        : []
  return sides.filter((side) => nodesIn(side).some(isColumn)).length > 1
}

/** Whether something is added up below the query itself. */
function groupsInside(query: SyntaxNode): boolean {
  if (nodesIn([query['from_table'], query['cte_map']]).some(adds)) return true
  const sides = query['type'] === 'SET_OPERATION_NODE' ? [query['left'], query['right']] : []
  return sides.some((side) => groupsInside(side as SyntaxNode))
}

const adds = (node: SyntaxNode): boolean =>
  ((node['group_expressions'] ?? []) as readonly unknown[]).length > 0 ||
  (node['class'] === 'FUNCTION' && aggregates.has(String(node['function_name'])))
