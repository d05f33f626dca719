// The words by which a statement fails on purpose, where DuckDB by itself would give NULL, an empty text, or more rows
// than there is room for; and the error that the caller gets for each.

import { limits } from '../../core/limits.ts'
import type { ErrorCode } from '../protocol/errors.ts'

export const DIVISION_BY_ZERO = 'division by zero'
export const NEGATIVE_LENGTH = 'the length of a substring is negative'
export const BEYOND_CALENDAR = 'the result is beyond the years 0001 to 9999'
/** limits.expandedRows or limits.expandedTextBytes was passed. */
export const TOO_MANY_RELATED = 'too many related rows'
/** limits.nestedTextBytes was passed. */
export const TOO_MUCH_WITHIN = 'too much text within related rows'
/** limits.treeLevels was passed, by traverse and by rolluprecursive. */
export const TREE_TOO_DEEP = 'the tree is too deep'
export const ROLLUP_TOO_DEEP = 'the tree to roll up is too deep'

interface RaisedError {
  readonly code: ErrorCode
  readonly message: string
  readonly target?: string
  /** Whether a page with fewer rows may have room. */
  readonly isTooWide?: boolean
}

/** By the words of DuckDB's error. */
export const raised: ReadonlyMap<string, RaisedError> = new Map([
  [DIVISION_BY_ZERO, { code: 'arithmetic-error', message: DIVISION_BY_ZERO }],
  [BEYOND_CALENDAR, { code: 'arithmetic-error', message: BEYOND_CALENDAR }],
  [NEGATIVE_LENGTH, { code: 'arithmetic-error', message: NEGATIVE_LENGTH }],
  [
    TREE_TOO_DEEP,
    {
      code: 'expression-too-deep',
      message: `traverse takes trees of at most ${limits.treeLevels} levels: begin at a node further down by a sequence of transformations after preorder or postorder, or use descendants, which has no such limit`,
      target: '$apply',
    },
  ],
  [
    ROLLUP_TOO_DEEP,
    {
      code: 'expression-too-deep',
      message: `rolluprecursive takes trees of at most ${limits.treeLevels} levels: total the rows below one node by filter(Aggregation.isdescendant(…))`,
      target: '$apply',
    },
  ],
  [
    TOO_MANY_RELATED,
    {
      code: 'expand-too-large',
      message: `more than ${limits.expandedRows} related rows, or ${limits.expandedTextBytes / 2 ** 20} MiB of their text: ask for fewer with $top or a smaller page, or with $top or $filter within $expand`,
      target: '$expand',
    },
  ],
  [
    TOO_MUCH_WITHIN,
    {
      code: 'expand-too-large',
      message: `rows would hold more than ${limits.nestedTextBytes / 2 ** 20} MiB of related rows, those within others included: ask for fewer levels, or for less with $top, $filter or $select within $expand`,
      target: '$expand',
      isTooWide: true,
    },
  ],
])
