// What a request asks for, once its names and types have been resolved: a document, or rows.

import type { BoundQuery } from './bound.ts'

export type BoundRequest =
  | { readonly kind: 'service-document' }
  | { readonly kind: 'metadata' }
  /** What $metadata says, for tools that know no OData. */
  | { readonly kind: 'openapi' }
  /** A document that $metadata refers to, by the name of its file. */
  | { readonly kind: 'vocabulary'; readonly file: string }
  | ({ readonly kind: 'collection' } & RowsRequest)
  | ({ readonly kind: 'entity' } & RowsRequest)
  | ({ readonly kind: 'count' } & RowsRequest)
  /** A property or a part of one, named `value` in the output; `raw`: its value alone. */
  | ({ readonly kind: 'property'; readonly raw: boolean } & RowsRequest)

export interface RowsRequest {
  readonly query: BoundQuery
  /**
   * The entity from which a navigation property leads to the rows; null when none does, or a key says which row is meant.
   * When no row is found, it tells an entity without related ones from one that is not there.
   */
  readonly parent: BoundQuery | null
}
