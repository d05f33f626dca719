// Keys that are another value in each build: what clients have of a row leads nowhere after the next one.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { foldCase } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { Span } from '../../core/source-text.ts'
import type { SyntaxNode } from '../../duckdb/syntax.ts'
import { columnItems } from '../exposure.ts'
import type { ParsedQuery } from '../model-file.ts'
import type { ResolvedQuery } from '../resolve.ts'

/** Calls whose value nothing in the row decides. */
const UNSTABLE: ReadonlySet<string> = new Set(
  'uuid uuidv4 uuidv7 gen_random_uuid random'.split(' '),
)

/** Rows of these kinds are written once, and keep the key that they were given. */
const KEEPING: ReadonlySet<ParsedQuery['kind']> = new Set(['append', 'period'])

export function unstableKeys(
  { parsed: { kind, header, source }, tree }: ResolvedQuery,
  columns: readonly Column[],
  placeOfColumn: (index: number) => Span | null,
): readonly Diagnostic[] {
  if (tree === null || KEEPING.has(kind)) return []
  const named = [...(header.unique_key?.value ?? []), ...(header.expose?.value ?? [])]
  const keys = new Set(named.map(({ name }) => foldCase(name)))
  const items = columnItems(tree, columns.length)
  return columns.flatMap(({ name }, i): readonly Diagnostic[] => {
    const item = items[i] ?? null
    const call = item === null || !keys.has(foldCase(name)) ? null : unstableCall(item)
    const span = placeOfColumn(i)
    if (span === null || call === null) return []
    const hint =
      call === NUMBERED
        ? 'say the order, by columns that no two rows share: OVER (ORDER BY …)'
        : "make it of columns that say what a row is, such as md5(concat_ws('|', a, b))"
    return [diagnostic('unstable-key', { column: name, call }, { source, span }, hint)]
  })
}

const NUMBERED = 'row_number'

/** null: the column is more than such a call, of whatever type. */
function unstableCall(item: SyntaxNode): string | null {
  if (item['class'] === 'CAST') return unstableCall(item['child'] as SyntaxNode)
  const name = foldCase(String(item['function_name']))
  if (item['class'] === 'FUNCTION') return UNSTABLE.has(name) ? name : null
  if (item['class'] !== 'WINDOW' || name !== NUMBERED) return null
  const decides = ['partitions', 'orders', 'arg_orders'].flatMap(
    (member) => (item[member] ?? []) as readonly unknown[],
  )
  return decides.length === 0 ? name : null
}
