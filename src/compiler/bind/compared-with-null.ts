// Comparisons with NULL in the SQL of a model or of a file of checks/, as its author wrote it: the value of a variable may
// be NULL in one place of use.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { ModelBody } from '../../core/sql.ts'
import { nullComparison } from '../sql/null-comparison.ts'

export function comparedWithNull({ source, span }: ModelBody): readonly Diagnostic[] {
  const found = nullComparison(source.text.slice(span.start, span.end))
  if (found === null) return []
  const { written, meant } = found
  const start = span.start + found.span.start
  const place = { source, span: { start, end: start + found.span.end - found.span.start } }
  return [diagnostic('null-comparison', { written }, place, `write ${meant}`)]
}
