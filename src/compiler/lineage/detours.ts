// Ways to the rows that a change touches where no column of the result tells them: a table that is joined by a column that
// is not selected. What is joined with it has such a column, and the address too, so that it is asked: customers that
// changed lead to the orders that are there, and these to the lines of the result. What has changed of the orders
// themselves is followed on its own account, so that those that are there are enough.

import type { Detour, Trail } from '../../core/addresses.ts'
import type { SyntaxNode } from '../../duckdb/syntax.ts'
import type { Scope } from './scope.ts'

/** `scope`: of the SELECT. `useOf`: the number of a place at which something is read; null: it is no table there. */
export function detoursOf(
  select: SyntaxNode,
  scope: Scope,
  useOf: (node: SyntaxNode) => number | null,
): readonly Detour[] {
  const own = new Set(tablesIn(select['from_table']).flatMap((node) => useOf(node) ?? []))
  const columns = scope.relations.flatMap((relation) => relation.columns ?? [])
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

/** Those of the FROM itself, not of queries in it. */
function tablesIn(from: unknown): readonly SyntaxNode[] {
  const node = from as SyntaxNode
  if (node['type'] === 'JOIN') return [...tablesIn(node['left']), ...tablesIn(node['right'])]
  return node['type'] === 'BASE_TABLE' ? [node] : []
}
