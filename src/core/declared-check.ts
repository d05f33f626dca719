// A check outside a model file, written as after @check.

import type { SourceFile, Span } from './source.ts'

export interface DeclaredCheck {
  readonly severity: 'fail' | 'warn'
  readonly source: SourceFile
  readonly span: Span
}
