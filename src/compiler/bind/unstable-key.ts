// Keys that are another value in each build: what clients have of a row leads nowhere after the next one.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { foldCase } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { Span } from '../../core/source-text.ts'
import type { ParsedQuery } from '../model-file.ts'

/** Calls whose value nothing in the row decides, where the whole column is one. */
const UNSTABLE =
  /^(uuid|uuidv4|uuidv7|gen_random_uuid|random)\s*\(\s*\)|^(row_number)\s*\(\s*\)\s*over\s*\(\s*\)/i

export function unstableKeys(
  { header, source }: ParsedQuery,
  columns: readonly Column[],
  placeOfColumn: (index: number) => Span | null,
): readonly Diagnostic[] {
  const named = [...(header.unique_key?.value ?? []), ...(header.expose?.value ?? [])]
  const keys = new Set(named.map(({ name }) => foldCase(name)))
  return columns.flatMap(({ name }, i): readonly Diagnostic[] => {
    if (!keys.has(foldCase(name))) return []
    const span = placeOfColumn(i)
    const [, call, numbered] = UNSTABLE.exec(source.text.slice(span?.start)) ?? []
    const found = call ?? numbered
    if (span === null || found === undefined) return []
    const hint =
      numbered === undefined
        ? "make it of columns that say what a row is, such as md5(concat_ws('|', a, b))"
        : 'say the order, by columns that no two rows share: OVER (ORDER BY …)'
    return [diagnostic('unstable-key', { column: name, call: found }, { source, span }, hint)]
  })
}
