// What a rule is. It has two steps: `accepts` is a quick yes for a value of JSON.parse, `check` reads the bytes and
// decides. What `accepts` accepts, `check` accepts too; and what either accepts, DuckDB reads without an error and
// without changing the value (a test verifies it, type by type).
//
// A rule is stricter than DuckDB where DuckDB silently loses something: 1.5 into BIGINT becomes 2, true
// becomes 1, an offset of a TIMESTAMP and the time of a DATE are dropped, a DECIMAL goes through a double.

import type { JsonNode } from './json-tree.ts'

/** Bytes `start` to `end` of the body are to be stored as `text`. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The result of checking the bytes of a value. */
export interface Findings {
  readonly edits: Edit[]
  /** Values of JSON in it, whose numbers are to stay as they are spelled. */
  readonly json: JsonNode[]
}

export interface Rule {
  /** True: valid as it is, if no number of the event is longer than a double can hold. False: check the text. */
  accepts(value: unknown): boolean
  /** A quick yes for a text of ASCII in these bytes, without making a string of them; what it accepts, `accepts` does. */
  acceptsBytes?(bytes: Uint8Array, start: number, end: number): boolean
  /** What is wrong, as a sentence without a subject ("must be …"); null when the value is valid after the edits. */
  check(node: JsonNode, found: Findings): string | null
  /** Whether digits matter that a double may not hold. */
  readonly exact: boolean
  /** Accepts every text. */
  readonly anyText?: true
  /** Has values of JSON, which keep numbers as they are spelled. */
  readonly spelled?: boolean
}
