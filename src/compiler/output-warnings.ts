// What a SELECT gives and its author may not expect: columns that DuckDB renames, and groups that an append adds twice.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import { foldCase } from '../core/names.ts'
import type { Column } from '../core/relation.ts'
import type { Span } from '../core/source.ts'
import type { SyntaxNode } from '../duckdb/syntax.ts'
import type { ParsedQuery } from './model-file.ts'

/**
 * `original`: names as the query gives them; `columns`: as the table has them. Columns of a star are passed over, for a
 * join of two tables repeats their keys on purpose.
 */
export function renamedColumns(
  { source, header }: ParsedQuery,
  original: readonly Column[],
  columns: readonly Column[],
  placeOf: (index: number) => Span | null,
): readonly Diagnostic[] {
  if (header.expose !== undefined) return [] // there it is an error
  return original.flatMap(({ name: column }, i): readonly Diagnostic[] => {
    const name = columns[i]?.name ?? column
    const span = foldCase(name) === foldCase(column) ? null : placeOf(i)
    if (span === null) return []
    const hint = 'rename one of them with AS'
    return [diagnostic('renamed-column', { column, name }, { source, span }, hint)]
  })
}

/** A late row changes its group: the new one is added, and the old one stays. */
export function appendOverGroups(
  { kind, source, header }: ParsedQuery,
  tree: SyntaxNode | null,
  columns: readonly Column[],
): readonly Diagnostic[] {
  const node = tree?.['node'] as SyntaxNode | undefined
  if (kind !== 'append' || header.unique_key !== undefined || node === undefined) return []
  const groups = (node['group_expressions'] ?? []) as readonly SyntaxNode[]
  const isAll = node['aggregate_handling'] === 'FORCE_AGGREGATES'
  if (groups.length === 0 && !isAll) return []
  const key = keyOf((node['select_list'] ?? []) as readonly SyntaxNode[], groups, isAll, columns)
  const hint = `write -- @kind: merge and -- @unique_key: ${key ?? 'the columns of GROUP BY'}, which replaces groups that change`
  const place = { source, span: header.kind?.span ?? { start: 0, end: 0 } }
  return [diagnostic('append-over-groups', {}, place, hint)]
}

/** Names of the columns that hold what the query groups by; null where not all of them are in the list. */
function keyOf(
  items: readonly SyntaxNode[],
  groups: readonly SyntaxNode[],
  isAll: boolean,
  columns: readonly Column[],
): string | null {
  if (items.length !== columns.length) return null
  const found = isAll
    ? items.flatMap((item, i) => (callsAggregate(item) ? [] : [i]))
    : groups.map((group) => indexOf(group, items))
  const names = found.map((i) => columns[i]?.name)
  return names.length > 0 && names.every((name) => name !== undefined) ? names.join(', ') : null
}

/** The commonest ones: a column too many in the hint is seen by who reads it. */
const AGGREGATES =
  /^(?:sum|count|count_star|countif|count_if|min|max|avg|mean|median|any_value|first|last|arg_m\w+|m\w+_by|list|array_agg|string_agg|bool_\w+|stddev\w*|var_\w+|quantile\w*|approx_\w+)$/i

function callsAggregate(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false
  const name = (node as SyntaxNode)['function_name']
  return (
    (typeof name === 'string' && AGGREGATES.test(name)) || Object.values(node).some(callsAggregate)
  )
}

/** -1: the query groups by something that it does not give. */
function indexOf(group: SyntaxNode, items: readonly SyntaxNode[]): number {
  if (group['class'] === 'CONSTANT') return Number((group['value'] as SyntaxNode)['value']) - 1
  const [name = ''] = ((group['column_names'] ?? []) as readonly string[]).slice(-1)
  const byAlias = items.findIndex(
    ({ alias }) => name !== '' && foldCase(String(alias)) === foldCase(name),
  )
  return byAlias >= 0 ? byAlias : items.findIndex((item) => meaningOf(item) === meaningOf(group))
}

const meaningOf = (node: SyntaxNode) =>
  JSON.stringify({ ...node, alias: '' }, (key, value: unknown) =>
    key === 'query_location' ? undefined : value,
  )
