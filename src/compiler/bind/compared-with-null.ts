// Comparisons with NULL in the SQL of a model or of a file of checks/, as its author wrote it: the value of a variable may
// be NULL in one place of use.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { ModelBody } from '../../core/sql.ts'
import { placedNullComparison } from '../sql/null-comparison.ts'

export function comparedWithNull(body: ModelBody): readonly Diagnostic[] {
  const found = placedNullComparison(body)
  if (found === null) return []
  const { written, meant } = found
  return [diagnostic('null-comparison', { written }, found, `write ${meant}`)]
}
