// Which expressions give the columns of a query their values, through common table expressions, subqueries, set operations
// and stars, and through functions that pass a value on.

import type { Model } from '../../core/model.ts'
import { foldCase } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { columnNames, type SyntaxNode } from '../../duckdb/syntax.ts'
import { columnItems } from '../exposure.ts'
import { columnsGivenBy, columnsOfQuery, type Inside, type LineageContext } from './query.ts'
import { type Columns, nodeOf, resolveName } from './scope.ts'

/** For each of `columns`, which the query gives. What is not understood below the SELECT list is taken from there. */
export function expressionsOf(
  tree: SyntaxNode,
  columns: readonly Column[],
  context: LineageContext,
): readonly (readonly SyntaxNode[])[] {
  const found = columnsGivenBy(tree, columns, { ...context, findsExpressions: true })
  if (found !== null) return found.map(({ by }) => by ?? [])
  return columnItems(tree, columns.length).map((item) => (item === null ? [] : passedOn(item)))
}

/** They give another value where what they are given is another one, and nothing else decides it. */
const PASSING: ReadonlySet<string> = new Set(
  'timezone strftime date_trunc max min any_value first last'.split(' '),
)

/** What an expression hands on; null: it is a value of its own. */
function handedOn(item: SyntaxNode): readonly SyntaxNode[] | null {
  if (item['class'] === 'CAST') return [item['child'] as SyntaxNode]
  const isPassing = item['class'] === 'FUNCTION' && PASSING.has(foldCase(nameOf(item)))
  return isPassing ? ((item['children'] ?? []) as readonly SyntaxNode[]) : null
}

const nameOf = ({ function_name: name }: SyntaxNode) => String(name)

/** What gives an expression its value, as far as it shows by itself. */
export const passedOn = (item: SyntaxNode): readonly SyntaxNode[] =>
  handedOn(item)?.flatMap(passedOn) ?? [item]

/** The columns of a model with what gives them their values there, where that is another value in each build. */
export function withGivers(columns: Columns, model: Model | undefined): Columns {
  if (columns === null || model?.givers === undefined) return columns
  const byName = new Map(
    model.givers.map(([column, from, call]) => [column, nodeOfCall(call, from || model.name)]),
  )
  return columns.map((column) => {
    const node = byName.get(column.name)
    return node === undefined ? column : { ...column, by: [node] }
  })
}

const nodeOfCall = (call: string, model: string): SyntaxNode => ({
  class: call === 'row_number' ? 'WINDOW' : 'FUNCTION',
  function_name: call,
  model,
})

/** undefined: nobody asks, or a model or a source gives the value. */
export function givenBy(item: SyntaxNode, place: Inside): readonly SyntaxNode[] | undefined {
  if (place.context.findsExpressions === undefined) return undefined
  const names = columnNames(item)
  if (names !== null) {
    const { by, part } = resolveName(names, place.scope)
    return part === undefined ? [item] : by
  }
  if (item['class'] === 'SUBQUERY' && item['subquery_type'] === 'SCALAR')
    return columnsOfQuery(nodeOf(item['subquery'] as SyntaxNode), place)?.[0]?.by
  return handedOn(item)?.flatMap((part) => givenBy(part, place) ?? []) ?? [item]
}
