// Which rows of a set the holder of a token may read: a condition in SQL over its published columns.

import type { SourceFile, Span } from './source.ts'
import type { ModelBody } from './sql.ts'

export interface RowFilter {
  /** As written. */
  readonly text: string
  readonly condition: ModelBody
  /** In eider.yml. */
  readonly source: SourceFile
  readonly span: Span
}
