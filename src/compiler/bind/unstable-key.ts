// Keys that are another value in each build: what clients have of a row leads nowhere after the next one.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { foldCase } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { Givers } from './givers.ts'
import type { ParsedQuery } from '../model-file.ts'
import type { ResolvedQuery } from '../resolve.ts'

/** Rows of these kinds are written once, and keep the key that they were given. */
const KEEPING: ReadonlySet<ParsedQuery['kind']> = new Set(['append', 'period'])

export function unstableKeys(
  { parsed: { kind, header, source } }: ResolvedQuery,
  columns: readonly Column[],
  givers: Givers,
): readonly Diagnostic[] {
  if (KEEPING.has(kind)) return []
  const named = [...(header.unique_key?.value ?? []), ...(header.expose?.value ?? [])]
  const keys = new Set(named.map(({ name }) => foldCase(name)))
  return columns.flatMap(({ name }, i): readonly Diagnostic[] => {
    const giver = keys.has(foldCase(name)) ? givers.unstable(i) : null
    if (giver === null) return []
    const { call, from, span } = giver
    const say =
      call === 'row_number'
        ? 'say the order, by columns that no two rows share: OVER (ORDER BY …)'
        : "make it of columns that say what a row is, such as md5(concat_ws('|', a, b))"
    const hint = from === null ? say : `in ${from}: ${say}`
    return [diagnostic('unstable-key', { column: name, call }, { source, span }, hint)]
  })
}
