// Columns that are another value in each run, in models of which a run writes the rows that differ: all of them differ.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { foldCase, sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { Span } from '../../core/source-text.ts'
import { columnNames, type SyntaxNode } from '../../duckdb/syntax.ts'
import { columnItems } from '../exposure.ts'
import type { ModelHeader } from '../annotations/annotations.ts'
import type { ResolvedQuery } from '../resolve.ts'
import { isVolatile, isVolatileWord, variesOf } from '../sql/engine-functions.ts'

export function changingColumns(
  { parsed: { kind, header, source }, tree }: ResolvedQuery,
  columns: readonly Column[],
  placeOfColumn: (index: number) => Span | null,
): readonly Diagnostic[] {
  if (tree === null || !comparesAll(kind, header)) return []
  const key = header.unique_key?.value ?? []
  const isKey = (name: string) => key.some((column) => sameName(column.name, name))
  const compared = header.compare?.value
  const items = columnItems(tree, columns.length)
  return columns.flatMap(({ name }, i): readonly Diagnostic[] => {
    const call = changingCall(items[i] ?? null)
    const span = call === null ? null : placeOfColumn(i)
    // Keys have a warning of their own.
    if (call === null || span === null || isKey(name)) return []
    if (compared?.some((column) => sameName(column.name, name)) === false) return []
    const isVersion = kind === 'scd2'
    const others = columns
      .map((column) => column.name)
      .filter((other) => other !== name && !isKey(other))
    const hint = isVersion
      ? `leave it out, since valid_from says when a version began; or compare the others: -- @compare: ${others.join(', ') || 'columns'}`
      : 'leave it out, or read only rows that are new, with a line such as -- @incremental: updated_at'
    const effect = isVersion ? 'gives each row a new version' : 'writes all rows again'
    return [diagnostic('changing-column', { column: name, call, effect }, { source, span }, hint)]
  })
}

/** Rows with a watermark or a time of their own are read once, and keep the value that they were given. */
function comparesAll(kind: ResolvedQuery['parsed']['kind'], header: ModelHeader): boolean {
  if (kind === 'scd2') return header.valid_from === undefined
  return kind === 'merge' && header.incremental === undefined
}

/** They pass the change on whatever else they are given. */
const PASSING = new Set(['timezone', 'strftime', 'date_trunc'])

/** null: the column may be the same in the next run. */
function changingCall(item: SyntaxNode | null): string | null {
  if (item === null) return null
  if (item['class'] === 'CAST') return changingCall(item['child'] as SyntaxNode)
  const [word, ...more] = columnNames(item) ?? []
  if (word !== undefined && more.length === 0) return isVolatileWord(foldCase(word)) ? word : null
  if (item['class'] !== 'FUNCTION') return null
  const name = foldCase(String(item['function_name']))
  const values = (item['children'] ?? []) as readonly SyntaxNode[]
  if (PASSING.has(name)) return values.map(changingCall).find((call) => call !== null) ?? null
  return isVolatile(name, values.length) && variesOf(name) !== null ? `${name}()` : null
}
