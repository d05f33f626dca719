// What the compiler finds of a query besides the columns that its values come from: where it reads, which columns there
// lead to which of its own, and what is in the way of making a part of its rows.

import type { Span } from './source-text.ts'

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
  readonly line: number | null
}

/** How a value leads to another one; a greater value never leads to a smaller one, but for `zone`, by hours. */
export type TrailStep =
  | { readonly cast: string }
  /** A unit of date_trunc(). */
  | { readonly trunc: string }
  /** The width of time_bucket(). */
  | { readonly bucket: string }
  /** A time zone. */
  | { readonly zone: string }
  /** A function of the value and these constants; only among addresses, since no order is kept. */
  | { readonly call: string; readonly with: readonly (string | number)[] }
  /** A text in the place of NULL; only among addresses. */
  | { readonly otherwise: string }

/** A column that gives another its values, as they are or by these steps, wherever both have part in a row. */
export interface Trail {
  /** The place in the query at which its model is read. */
  readonly use: number
  readonly column: string
  readonly steps: readonly TrailStep[]
  /** Of the column; only among addresses. */
  readonly type?: string
  /** It may have part in no row though the other has a value, as in an outer join. Known while a query is looked at. */
  readonly isLoose?: true
}

/** Where a query reads a model or a table of a source. */
export interface Use {
  readonly name: string
  /** What it gives is used more than once, so its columns lead to the result of more than one. */
  readonly isShared: boolean
}

/** What a query reads, each place apart, and for each of its columns what gives it its values. */
export interface Trails {
  readonly uses: readonly Use[]
  readonly columns: readonly (readonly Trail[])[]
  /** A row may depend on any other row of what is read: a window, LIMIT, DISTINCT ON. */
  readonly looksAround: boolean
  /** Rows of it stand for several of what is read: a GROUP BY, be it in a query of its FROM. */
  readonly isGrouped: boolean
  /** `picked`: it leaves out some of the rows that a window or LIMIT has picked; `read`: of others alone. */
  readonly leavesOut: 'picked' | 'read' | null
  /** A window gives its rows values of other rows, such as lag(); a place among them, such as rank(), is none. */
  readonly hasValuesOfOthers: boolean
  readonly addresses: Addresses
}

/** Rows to which the trail leads are in the result with rows of another place alone, which have its value in a column. */
export interface Detour {
  readonly trail: Trail
  /** The other place. */
  readonly through: number
  /** The column there. */
  readonly from: string
}

/**
 * As Trails, where a trail means more: in each row of the result the column is the value of each row that has part in it,
 * NULL too, so that rows with the one value are made of rows with that value alone, and are all that is made of these.
 */
export interface Addresses {
  /** One that is used several times is several. */
  readonly uses: readonly AddressUse[]
  readonly columns: readonly (readonly Trail[])[]
  readonly detours: readonly Detour[]
  readonly problems: readonly AddressProblem[]
  /** A row may be there only until another one comes, as in a window of the last three rows of each group. */
  readonly picks: boolean
  /** The rows are asked for in an order, or only some of them: no part of the result is made apart. */
  readonly whole: AddressProblem | null
}
