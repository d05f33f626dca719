// Ways to the rows that a change touches where no column of the result tells them: a table that is joined by a column that
// is not selected. What is joined with it has such a column, and the address too, so that it is asked: customers that
// changed lead to the orders that are there, and these to the lines of the result. What has changed of the orders
// themselves is followed on its own account, so that those that are there are enough. The join may be in a subquery of
// FROM or in a common table expression, since what has part in their rows has part in those of the result.

import type { Detour, Trail } from '../../core/addresses.ts'
import { foldCase } from '../../core/names.ts'
import { ctesOf, type SyntaxNode } from '../../duckdb/syntax.ts'
import { nodeOf, type Scope, textOf } from './scope.ts'

interface Looked {
  /** The scope of a SELECT; null: it has not been looked at. */
  scopeOf(select: SyntaxNode): Scope | null
  /** The number of a place at which something is read; null: it is no table there. */
  useOf(node: SyntaxNode): number | null
}

/** Queries of common table expressions, by name in lower case. */
type Queries = ReadonlyMap<string, SyntaxNode>

export function detoursOf(
  query: SyntaxNode,
  looked: Looked,
  around: Queries = new Map(),
): readonly Detour[] {
  const found: Detour[] = []
  const inside = withOwn(query, around, (inner, before) => {
    found.push(...detoursOf(inner, looked, before))
  })
  if (query['type'] === 'SET_OPERATION_NODE')
    for (const side of ['left', 'right'])
      found.push(...detoursOf(query[side] as SyntaxNode, looked, inside))
  if (query['type'] !== 'SELECT_NODE') return found
  const scope = looked.scopeOf(query)
  const own = new Set(partsOf(query, inside, looked))
  if (scope !== null) found.push(...detoursIn(scope, own))
  for (const table of tablesIn(query['from_table']))
    if (table['type'] === 'SUBQUERY') found.push(...detoursOf(queryIn(table), looked, inside))
  return found
}

/** `look` is given each with those before it. */
function withOwn(
  query: SyntaxNode,
  around: Queries,
  look: (inner: SyntaxNode, before: Queries) => void = () => {},
): Queries {
  const all = new Map(around)
  for (const { key, value } of ctesOf(query)) {
    const inner = nodeOf(value.query)
    look(inner, new Map(all))
    all.set(foldCase(key), inner)
  }
  return all
}

function detoursIn({ relations }: Scope, own: ReadonlySet<number>): readonly Detour[] {
  const columns = relations.flatMap((relation) => relation.columns ?? [])
  return columns.flatMap(({ trails = [] }) =>
    trails
      .filter((one) => isOfRow(one, own))
      .flatMap(({ use: through, column: from }) =>
        trails
          .filter(({ use }) => use !== through)
          .map(({ use, column, steps, type = '' }) => ({
            trail: { use, column, steps, type },
            through,
            from,
          })),
      ),
  )
}

/** Whether each row of the FROM has part of a row of that table, whose value this is. */
const isOfRow = ({ use, steps, isLoose }: Trail, own: ReadonlySet<number>): boolean =>
  own.has(use) && steps.length === 0 && isLoose !== true

/** The places where a SELECT reads the tables of its rows. Of UNION a row may have part of one side alone: there are none. */
function partsOf(query: SyntaxNode, ctes: Queries, looked: Looked): readonly number[] {
  if (query['type'] !== 'SELECT_NODE') return []
  return tablesIn(query['from_table']).flatMap((table) => {
    if (table['type'] === 'SUBQUERY') {
      const inner = queryIn(table)
      return partsOf(inner, withOwn(inner, ctes), looked)
    }
    const use = looked.useOf(table)
    if (use !== null) return [use]
    const name = foldCase(textOf(table['table_name']))
    const inner = textOf(table['schema_name']) === '' ? ctes.get(name) : undefined
    return inner === undefined ? [] : partsOf(inner, withOwn(inner, without(ctes, name)), looked)
  })
}

/** What has the name of a table in its own query is another one. */
const without = (ctes: Queries, name: string): Queries =>
  new Map([...ctes].filter(([key]) => key !== name))

const queryIn = (table: SyntaxNode) => nodeOf(table['subquery'] as SyntaxNode)

/** Those of the FROM itself, not of queries in it. */
function tablesIn(from: unknown): readonly SyntaxNode[] {
  const node = from as SyntaxNode
  if (node['type'] === 'JOIN') return [...tablesIn(node['left']), ...tablesIn(node['right'])]
  return node['type'] === 'BASE_TABLE' || node['type'] === 'SUBQUERY' ? [node] : []
}
