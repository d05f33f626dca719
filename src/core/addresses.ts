// What the compiler finds of a query besides the values that its columns come from: where it reads, and what is in the way
// of making a part of its rows.

import type { Span } from './source.ts'

/** A place in the file where a query reads something, and the name by which it goes there; empty: its own. */
export interface AddressUse {
  readonly name: string
  readonly span: Span | null
  readonly alias: string
}

/** Something in a query by which a row may depend on rows with any values. */
export interface AddressProblem {
  /** What stands there, such as "a window without PARTITION BY". */
  readonly text: string
  /** Of the file. */
  readonly line: number | null
}
