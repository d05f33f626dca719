// Which rows of a set the holder of a token may read: a condition in SQL over its published columns.

import type { FilePlace } from './source-text.ts'
import type { ModelBody } from './sql.ts'

export interface RowFilter extends FilePlace {
  readonly text: string
  readonly condition: ModelBody
}
