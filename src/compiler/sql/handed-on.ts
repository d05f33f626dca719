// Queries that hand the rows of another one on, each of them once: what is true of its rows is true of theirs.

import { foldCase } from '../../core/names.ts'
import { ctesOf, isSubquery, nodesIn, type SyntaxNode } from '../../duckdb/syntax.ts'
import { aggregates } from '../measures/aggregates.ts'
import { unnestingFunctions } from './engine-functions.ts'

interface Given {
  /** The innermost query, of which all that is around it hands on the rows. */
  readonly node: SyntaxNode
  /** Whether the columns are handed on in their order too. */
  readonly isWhole: boolean
}

/** For `SELECT … FROM (…)` and `WITH x AS (…) SELECT … FROM x` the query inside, without a filter around it; else itself. */
export function rowsGivenBy(
  node: SyntaxNode,
  outer: ReadonlyMap<string, SyntaxNode> = new Map(),
): Given {
  const ctes = new Map([
    ...outer,
    ...ctesOf(node).map(
      ({ key, value }) => [foldCase(key), value.query['node'] as SyntaxNode] as const,
    ),
  ])
  const inner = handsOn(node) ? insideOf(node['from_table'] as SyntaxNode, ctes) : null
  if (inner === null) return { node, isWhole: true }
  const items = node['select_list'] as readonly SyntaxNode[]
  // Inside of a common table expression its name means another table.
  const table = foldCase(String((node['from_table'] as SyntaxNode)['table_name']))
  const found = rowsGivenBy(inner, new Map([...ctes].filter(([name]) => name !== table)))
  return {
    node: found.node,
    isWhole: found.isWhole && items.length === 1 && isPlainStar(items[0]!),
  }
}

const list = (node: SyntaxNode, member: string) => (node[member] ?? []) as readonly SyntaxNode[]

function handsOn(node: SyntaxNode): boolean {
  const isFiltered = ['where_clause', 'having', 'qualify', 'sample'].some(
    (clause) => node[clause] != null,
  )
  const isGrouped =
    list(node, 'group_expressions').length > 0 || node['aggregate_handling'] === 'FORCE_AGGREGATES'
  return (
    node['type'] === 'SELECT_NODE' &&
    !isFiltered &&
    !isGrouped &&
    list(node, 'modifiers').length === 0 &&
    !list(node, 'select_list').some(callsOther)
  )
}

/** It makes one row of all, or several of one. */
const callsOther = (item: SyntaxNode): boolean =>
  nodesIn(item, isSubquery).some(
    ({ class: is, function_name: name }) =>
      is === 'FUNCTION' && (aggregates.has(String(name)) || unnestingFunctions.has(String(name))),
  )

function insideOf(table: SyntaxNode, ctes: ReadonlyMap<string, SyntaxNode>): SyntaxNode | null {
  if (table['sample'] != null) return null
  if (table['type'] === 'SUBQUERY') return (table['subquery'] as SyntaxNode)['node'] as SyntaxNode
  const isName = table['type'] === 'BASE_TABLE' && table['schema_name'] === ''
  return (isName ? ctes.get(foldCase(String(table['table_name']))) : undefined) ?? null
}

const isPlainStar = (item: SyntaxNode): boolean =>
  item['class'] === 'STAR' &&
  item['columns'] !== true &&
  ['exclude_list', 'qualified_exclude_list', 'replace_list', 'rename_list'].every(
    (member) => list(item, member).length === 0,
  )
