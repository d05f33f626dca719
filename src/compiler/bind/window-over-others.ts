// Windows of a model that reads a part of its input: a row may have been made of rows outside of that part, and is not made
// again when these change.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { foldCase, sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { columnNames, nodesIn, type SyntaxNode } from '../../duckdb/syntax.ts'
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
  const isIt = sameAs(tree, watermark, item)
  const window = windowsOfValues(tree).find(
    ({ partitions }) => !(partitions as readonly SyntaxNode[]).some(isIt),
  )
  if (window === undefined) return []
  const call = String(window['function_name'])
  const place = { source, span: spanAtByte(body, nodeLocation(window)) }
  // In a window with an order, it would leave each row the only one, or one of a few.
  const isOrdered = (window['orders'] as readonly SyntaxNode[]).length > 0
  const or = isOrdered ? '' : `; or add ${watermark} to PARTITION BY`
  const hint = `select it in a model of kind table, of which each row that changes is followed, and read that here${or}`
  return [diagnostic('window-over-others', { call, watermark }, place, hint)]
}

/**
 * Whether an expression is the column, by its name or by what it says, here or in a query inside that names it otherwise.
 * `item`: what gives the column; null: a star.
 */
function sameAs(
  tree: SyntaxNode,
  column: string,
  item: SyntaxNode | null,
): (part: SyntaxNode) => boolean {
  const items = nodesIn(tree).flatMap(({ select_list: list }) => (list ?? []) as SyntaxNode[])
  const meanings = new Set<string>()
  const names = new Set([foldCase(column)])
  // Those that the text gives to no table.
  const ofAny = new Set<string>()
  const addInside = (name: string): void =>
    items.filter(({ alias }) => sameName(String(alias), name)).forEach(add)
  function add(node: SyntaxNode): void {
    if (meanings.has(meaningOf(node))) return
    meanings.add(meaningOf(node))
    const parts = columnNames(node)
    const name = parts?.at(-1)
    if (parts === null || name === undefined) return
    names.add(foldCase(name))
    if (parts.length === 1) ofAny.add(foldCase(name))
    addInside(name)
  }
  if (item !== null) add(item)
  else {
    ofAny.add(foldCase(column))
    addInside(column)
  }
  return (part) => {
    const parts = columnNames(part)
    const name = foldCase(parts?.at(-1) ?? '')
    return meanings.has(meaningOf(part)) || (parts?.length === 1 ? names : ofAny).has(name)
  }
}
