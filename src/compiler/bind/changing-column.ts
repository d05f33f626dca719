// Columns that are another value in each run, in models of which a run writes the rows that differ: all of them differ.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { ModelHeader } from '../annotations/annotations.ts'
import { callIn, type Givers } from './givers.ts'
import type { ResolvedQuery } from '../resolve.ts'

export function changingColumns(
  { parsed: { kind, header, source } }: ResolvedQuery,
  columns: readonly Column[],
  givers: Givers,
): readonly Diagnostic[] {
  if (!comparesAll(kind, header)) return []
  const key = header.unique_key?.value ?? []
  const isKey = (name: string) => key.some((column) => sameName(column.name, name))
  const compared = header.compare?.value
  return columns.flatMap(({ name }, i): readonly Diagnostic[] => {
    const giver = givers.changing(i)
    // Keys have a warning of their own.
    if (giver === null || isKey(name)) return []
    if (compared?.some((column) => sameName(column.name, name)) === false) return []
    const isVersion = kind === 'scd2'
    const others = columns
      .map((column) => column.name)
      .filter((other) => other !== name && !isKey(other))
    const hint = isVersion
      ? `leave it out, since valid_from says when a version began; or compare the others: -- @compare: ${others.join(', ') || 'columns'}`
      : 'leave it out, or read only rows that are new, with a line such as -- @incremental: updated_at'
    const effect = isVersion ? 'gives each row a new version' : 'writes all rows again'
    const told = { column: name, call: callIn(giver), effect }
    return [diagnostic('changing-column', told, { source, span: giver.span }, hint)]
  })
}

/** Rows with a watermark or a time of their own are read once, and keep the value that they were given. */
function comparesAll(kind: ResolvedQuery['parsed']['kind'], header: ModelHeader): boolean {
  if (kind === 'scd2') return header.valid_from === undefined
  return kind === 'merge' && header.incremental === undefined
}
