// What a rule is. A value that a rule takes, DuckDB reads without an error and without changing it (a test verifies it,
// type by type).
//
// A rule is stricter than DuckDB where DuckDB silently loses something: 1.5 into BIGINT becomes 2, true
// becomes 1, an offset of a TIMESTAMP and the time of a DATE are dropped, a DECIMAL goes through a double.

import type { Spans } from './spans.ts'

/** Bytes `start` to `end` of the body are to be stored as `text`; null: as they are, in quotes. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string | null
}

/** What has to change before a value is stored. */
export interface Changes {
  readonly edits: Edit[]
  /** Nodes of JSON, whose numbers are to stay as they are spelled. */
  readonly json: number[]
}

/**
 * What is wrong with a node that is not null, as a sentence without a subject ("must be …"); null when the value is valid
 * after the changes. With null for the changes, which is the usual case, a value that needs one is wrong too, and the
 * sentence may be any.
 */
export type Rule = (spans: Spans, node: number, changes: Changes | null) => string | null

/** The sentence for a value that may be valid after changes. */
export const NOT_AS_SENT = 'must not need a change'
