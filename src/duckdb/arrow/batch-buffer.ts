// What is written into a batch, and what it is written from.

import type duckdb from '@duckdb/node-bindings'

/** After the bytes of a buffer, as many as a short text may be written with more than it has. */
export const SLACK_BYTES = 12

/** Values of a vector, which has room for `size` of them: the first `count`, or those at `places`. */
export interface VectorValues {
  readonly vector: duckdb.Vector
  readonly size: number
  readonly count: number
  readonly places: Int32Array | null
}

/** A part of a batch, in which it begins at a multiple of eight bytes. */
export interface BatchBuffer {
  readonly bytes: number
  /** Up to SLACK_BYTES after its own may be changed, which are written later. */
  readonly write: (batch: Uint8Array, at: number) => void
}
