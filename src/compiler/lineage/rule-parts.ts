// What the values of single columns of a query follow from, so that who reads some of its columns can tell an edit of the
// others from one of theirs. A name that stands anywhere in a query counts as read there, be it of a table, of an alias or of a
// field: more may seem to be read than is, and never less. Where this file does not understand a query, all of it counts.

import type { NamesRead, RuleParts } from '../../core/model.ts'
import { foldCase } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { columnNames, isColumn, nodesIn, type SyntaxNode } from '../../duckdb/syntax.ts'
import { definitionOf } from '../definition-hash.ts'
import { aggregates } from '../measures/aggregates.ts'
import { nodeOf } from './scope.ts'

/** Of what a query reads it names these columns, and no other one. */
export const namesReadBy = (tree: SyntaxNode): NamesRead => namesIn(tree, tablesIn(tree))

/** null: its columns cannot be told apart. `more`: what the rows follow from besides the query. */
export function rulePartsOf(
  tree: SyntaxNode,
  columns: readonly Column[],
  more: readonly string[],
): RuleParts | null {
  const node = nodeOf(tree)
  const items = (node['select_list'] ?? []) as readonly SyntaxNode[]
  if (!isPlain(node) || items.length !== columns.length) return null
  const isGrouped = (node['group_expressions'] as readonly unknown[]).length > 0
  const isApart = (item: SyntaxNode) => item['class'] !== 'STAR' && givesOneValue(item, isGrouped)
  const fixed = items.filter((item) => !isApart(item))
  const rest = { ...node, select_list: fixed }
  const tables = tablesIn(node)
  const names = namesIn(rest, tables)
  // An alias of an item may be meant in what cannot be looked into.
  if (names === null) return null
  return {
    rest: { rule: definitionOf(textOf(rest), ...more), names },
    columns: items.map((item, i) => ({
      rule: definitionOf(columns[i]!.name, textOf(item)),
      names: namesIn(item, tables),
    })),
  }
}

/** Whether the rows that there are follow from all but the SELECT list, where no item of that gives several. */
function isPlain(node: SyntaxNode): boolean {
  if (node['type'] !== 'SELECT_NODE' || node['aggregate_handling'] !== 'STANDARD_HANDLING')
    return false
  // A DISTINCT compares the items, and ORDER BY and GROUP BY may mean them by their numbers.
  const groups = node['group_expressions'] as readonly SyntaxNode[]
  const isNumber = (group: SyntaxNode) => group['class'] === 'CONSTANT'
  return (node['modifiers'] as readonly unknown[]).length === 0 && !groups.some(isNumber)
}

const CLASSES: ReadonlySet<unknown> = new Set(
  'COLUMN_REF CONSTANT FUNCTION CAST CASE COMPARISON CONJUNCTION OPERATOR BETWEEN WINDOW'.split(
    ' ',
  ),
)

/** Functions that make one value of those of a row. What is not here counts as read, so the list need not be whole. */
const SCALARS: ReadonlySet<unknown> = new Set(
  `abs ceil ceiling concat concat_ws contains date_diff date_part date_trunc datediff datetrunc day dayofweek epoch
  epoch_ms floor hash hour ifnull json_extract json_extract_string left length lower ltrim md5 minute month
  nullif quarter regexp_extract regexp_matches regexp_replace replace right round rtrim second split_part starts_with
  strftime strptime struct_extract substr substring time_bucket timezone to_timestamp trim trunc try_strptime upper week
  year`.split(/\s+/),
)

/** Without a GROUP BY, an aggregate makes one row of all; and a subquery or an unnest may be anything. */
function givesOneValue(item: SyntaxNode, isGrouped: boolean): boolean {
  return nodesIn(item).every((node) => {
    if ('class' in node && !CLASSES.has(node['class'])) return false
    if (node['type'] === 'OPERATOR_UNPACK') return false
    if (node['class'] !== 'FUNCTION' || node['is_operator'] === true) return true
    const name = node['function_name']
    return SCALARS.has(name) || (isGrouped && aggregates.has(String(name)))
  })
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (member, one: unknown) => (member === 'query_location' ? undefined : one))

/** What goes by a name in a FROM. One that stands as a value is a row, of which all columns are read. */
function tablesIn(value: unknown): ReadonlySet<string> {
  const names = nodesIn(value)
    .filter((node) => node['class'] === undefined)
    .flatMap(({ alias, table_name }) => [alias, table_name])
  return new Set(names.filter((name) => typeof name === 'string').map(foldCase))
}

function namesIn(value: unknown, tables: ReadonlySet<string>): NamesRead {
  const found = new Set<string>()
  for (const node of nodesIn(value, isColumn)) {
    const [last, ...before] = (columnNames(node) ?? []).map(foldCase).toReversed()
    if (last !== undefined) {
      found.add(last)
      for (const name of before) found.add(`${name}.`)
      if (tables.has(last)) return null
    }
    if (node['class'] === 'STAR' || node['class'] === 'POSITIONAL_REFERENCE') return null
    if (OTHER_TABLES.has(node['type']) || node['ref_type'] === 'NATURAL') return null
    if (((node['column_name_alias'] ?? []) as readonly string[]).length > 0) return null
    for (const name of (node['using_columns'] ?? []) as readonly string[]) found.add(foldCase(name))
  }
  return [...found].toSorted()
}

/** In a FROM, where nothing says which columns they read of what. */
const OTHER_TABLES: ReadonlySet<unknown> = new Set(['PIVOT', 'TABLE_FUNCTION', 'SHOW_REF'])
