// Windows of a model that reads a part of its input: a row may have been made of rows outside of that part, and is not made
// again when these change.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { columnNames, type SyntaxNode } from '../../duckdb/syntax.ts'
import { columnItems } from '../exposure.ts'
import { spanAtByte } from '../hints/engine-diagnostic.ts'
import { windowsOfValues } from '../lineage/left-out.ts'
import type { ResolvedQuery } from '../resolve.ts'
import { meaningOf } from '../sql/meaning.ts'
import { nodeLocation } from '../sql/references.ts'

export function windowsOverOthers(
  { parsed: { header, source, body }, tree }: ResolvedQuery,
  columns: readonly Column[],
): readonly Diagnostic[] {
  // Only append and merge have a watermark.
  const watermark = header.incremental?.value.column.name
  if (tree === null || watermark === undefined) return []
  const index = columns.findIndex(({ name }) => sameName(name, watermark))
  const item = columnItems(tree, columns.length)[index] ?? null
  const isIt = (part: SyntaxNode): boolean =>
    sameName(columnNames(part)?.at(-1) ?? '', watermark) ||
    (item !== null && meaningOf(part) === meaningOf(item))
  const window = windowsOfValues(tree).find(
    ({ partitions }) => !(partitions as readonly SyntaxNode[]).some(isIt),
  )
  if (window === undefined) return []
  const call = String(window['function_name'])
  const place = { source, span: spanAtByte(body, nodeLocation(window)) }
  const hint = `select it in a model of kind table, of which each row that changes is followed, and read that here; or add ${watermark} to PARTITION BY`
  return [diagnostic('window-over-others', { call, watermark }, place, hint)]
}
