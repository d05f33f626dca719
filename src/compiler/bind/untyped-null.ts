// Exposed columns that are NULL and nothing else, for which DuckDB chooses INTEGER.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { Column } from '../../core/relation.ts'
import type { Span } from '../../core/source-text.ts'
import type { SyntaxNode } from '../../duckdb/syntax.ts'
import { columnItems } from '../exposure.ts'
import type { ResolvedQuery } from '../resolve.ts'

export function untypedNulls(
  { parsed: { header, source }, tree }: ResolvedQuery,
  columns: readonly Column[],
  placeOfColumn: (index: number) => Span | null,
): readonly Diagnostic[] {
  if (tree === null || header.expose === undefined) return []
  const items = columnItems(tree, columns.length)
  return columns.flatMap(({ name, type }, i): readonly Diagnostic[] => {
    const span = isNull(items[i] ?? null) ? placeOfColumn(i) : null
    if (span === null) return []
    const hint = `say its type, such as NULL::TIMESTAMP AS ${name}`
    return [diagnostic('untyped-null', { column: name, type }, { source, span }, hint)]
  })
}

const isNull = (item: SyntaxNode | null): boolean =>
  item?.['class'] === 'CONSTANT' && (item['value'] as SyntaxNode)['is_null'] === true
