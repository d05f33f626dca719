// How rows of the inputs of a query belong together: by which columns it joins them, and which of its columns are an
// expression over one of them.

import type { ColumnOrigin, CompiledProject } from '../../core/model.ts'
import { foldCase } from '../../core/names.ts'
import type { ModelBody } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import {
  isColumn,
  jsonOfTree,
  nodesIn,
  parseStatements,
  type SyntaxNode,
} from '../../duckdb/syntax.ts'
import { columnsOfQuery, contextOf } from './query.ts'
import { nodeOf, type ScopeValue } from './scope.ts'

export interface RowWays {
  /** Pairs whose values are compared as they are; one with itself where a window has all rows of a value. */
  readonly joins: readonly (readonly [JoinSide, JoinSide])[]
  readonly computed: readonly ComputedColumn[]
}

/** A column, or an expression over the columns of one input. */
export type JoinSide = ColumnOrigin | Omit<ComputedColumn, 'column'>

/** A column of the query that is an expression over one input, which stands in its FROM once. */
export interface ComputedColumn {
  readonly column: string
  readonly input: string
  /** DuckDB's syntax tree, as JSON, of a query of all rows of the input with the value as a last column, VALUE. */
  readonly query: string
}

export const VALUE = '_eider_value'

const NONE: RowWays = { joins: [], computed: [] }

/** Empty where DuckDB does not show the tree of the query. */
export async function rowWaysOf(
  connection: Connection,
  { models, external }: CompiledProject,
  body: ModelBody,
): Promise<RowWays> {
  const [query, pattern] = await parseStatements(connection, [
    body.text,
    `SELECT *, 0 AS ${VALUE} FROM x`,
  ])
  if (query?.is !== 'select' || pattern?.is !== 'select') return NONE
  const joins: (readonly [JoinSide, JoinSide])[] = []
  const named = new Map<SyntaxNode, ScopeValue>()
  const tables = new Map<string, SyntaxNode | null>()
  const names = new Map(Array.from(models.keys(), (name) => [foldCase(name), name]))
  const context = contextOf({
    models,
    external: external?.tables ?? [],
    findModel: (name) => names.get(foldCase(name)) ?? null,
    readsTables: () => false,
  })
  const observer = {
    // A table that stands there twice may mean either.
    table: (node: SyntaxNode, name: string) =>
      tables.set(foldCase(name), tables.has(foldCase(name)) ? null : node),
    column: (node: SyntaxNode, value: ScopeValue) => named.set(node, value),
    equality: (left: ScopeValue, right: ScopeValue) => {
      const [l, r] = [columnOf(left), columnOf(right)]
      if (l !== null && r !== null) joins.push([l, r])
    },
  }
  const place = { scope: null, ctes: new Map(), context: { ...context, observer } }
  const columns = columnsOfQuery(nodeOf(query.tree), place)
  const valuesOf = (item: SyntaxNode): Omit<ComputedColumn, 'column'> | null => {
    const input = isColumn(item) ? null : inputOf(item, named)
    const table = input === null ? null : tables.get(foldCase(input))
    if (input === null || table == null) return null
    const { tree } = pattern
    const { select_list, ...rest } = nodeOf(tree) as { select_list: readonly SyntaxNode[] }
    const list = [select_list[0], { ...item, alias: VALUE }]
    const node = { ...rest, select_list: list, from_table: table }
    return { input, query: jsonOfTree({ error: false, statements: [{ ...tree, node }] }) }
  }
  const compared = (node: SyntaxNode): JoinSide | null => {
    const value = named.get(node)
    return value === undefined ? valuesOf(node) : columnOf(value)
  }
  for (const one of partitionsIn(query.tree).flatMap((node) => compared(node) ?? []))
    joins.push([one, one])
  for (const [left, right] of equalitiesIn(query.tree)) {
    const [l, r] = [compared(left), compared(right)]
    // Two columns are found with their scopes.
    if (l !== null && r !== null && ('query' in l || 'query' in r)) joins.push([l, r])
  }
  const items = (nodeOf(query.tree)['select_list'] ?? []) as readonly SyntaxNode[]
  if (columns?.length !== items.length) return { joins, computed: [] }
  const own = new Set(joinedTables(nodeOf(query.tree)['from_table'] as SyntaxNode))
  const computed = items.flatMap((item, i): readonly ComputedColumn[] => {
    const values = valuesOf(item)
    if (values === null || !own.has(tables.get(foldCase(values.input))!)) return []
    return [{ column: columns[i]!.name, ...values }]
  })
  return { joins, computed }
}

/** By what windows part their rows. */
const partitionsIn = (tree: SyntaxNode): readonly SyntaxNode[] =>
  nodesIn(tree)
    .filter((node) => node['class'] === 'WINDOW')
    .flatMap((node) => (node['partitions'] ?? []) as readonly SyntaxNode[])

const equalitiesIn = (tree: SyntaxNode): readonly (readonly [SyntaxNode, SyntaxNode])[] =>
  nodesIn(tree)
    .filter((node) => node['type'] === 'COMPARE_EQUAL')
    .map((node) => [node['left'] as SyntaxNode, node['right'] as SyntaxNode])

const joinedTables = (table: SyntaxNode): readonly SyntaxNode[] =>
  table['type'] === 'JOIN'
    ? [table['left'], table['right']].flatMap((side) => joinedTables(side as SyntaxNode))
    : [table]

/** null for what is computed. */
function columnOf({ origins, type }: ScopeValue): ColumnOrigin | null {
  if (type === null || origins?.size !== 1) return null
  return [...origins.values()][0]!
}

/** The one model or table of a source whose columns the expression has; null: there are more, none, or other parts. */
function inputOf(item: SyntaxNode, named: ReadonlyMap<SyntaxNode, ScopeValue>): string | null {
  const found = new Set<string | null>()
  for (const node of nodesIn(item)) {
    const kind = String(node['class'])
    const own = named.get(node)
    if (['SUBQUERY', 'WINDOW', 'STAR'].includes(kind)) found.add(null)
    if (isColumn(node)) found.add(own === undefined ? null : (columnOf(own)?.model ?? null))
  }
  const [input = null] = found
  return found.size === 1 ? input : null
}
