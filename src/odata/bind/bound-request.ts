// What a request asks for, once its names and types have been resolved: a document, or rows.

import type { EntitySet, NavigationProperty } from '../edm/model.ts'
import type { EdmType } from '../edm/types.ts'
import type { Expression, KeyLink, OrderItem, Relation, RowVariable } from './bound.ts'

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

export interface BoundQuery {
  /** With $apply, a set that stands for its result. */
  readonly set: EntitySet
  readonly relation: Relation
  /** The alias of the relation's rows in expressions. */
  readonly row: RowVariable
  readonly output: readonly OutputProperty[]
  /** The row with the key of its entity, where that is not `row`; null: the rows are no entities of a set. */
  readonly entity?: RowVariable | null | undefined
  /** Instance annotations, which stand in the rows of formats that have some. */
  readonly annotations?: readonly OutputProperty[]
  /** Navigation properties whose links metadata=full writes; absent where the rows are not entities. */
  readonly navigation?: readonly NavigationProperty[] | undefined
  /** Related entities that are written into each row. */
  readonly expand: readonly Expansion[]
  /** Key predicate, `$search` and `$filter` in one. */
  readonly filter: Expression | null
  /** The requested order, made total by the key; empty: the order in which the rows are stored. */
  readonly order: readonly OrderItem[]
  /** Whether each part of the set has its rows in that order. */
  readonly isStoredOrder?: boolean
  readonly withCount: boolean
  readonly skip: number
  readonly top: number | null
  /** What follows `$metadata#` in the context URL, such as `shop_customers(name,city)` or `shop_customers/$entity`. */
  readonly contextFragment: string
}

export interface Expansion {
  readonly name: string
  /** Names of the objects around it in the row; absent: none. */
  readonly within?: readonly string[]
  /** As of an OutputProperty. */
  readonly mark?: Expression | undefined
  readonly isNullObject?: boolean | undefined
  /** Whether a row that leads to nothing has no such member, and not a null. */
  readonly isOptional?: boolean
  readonly many: boolean
  /** Only the number of related entities is written. */
  readonly countOnly: boolean
  /** Written before it, where $metadata does not tell what it is: what follows the # of a context URL. */
  readonly context?: string
  /** Nobody has asked for it: a format that has no place for it leaves it out. */
  readonly isImplied?: boolean
  /** Instance annotations that the row has for the one entity: they are written in it. */
  readonly annotations?: readonly OutputProperty[]
  readonly link: KeyLink
  /** What is handed down to it of the row of the request, because it speaks of `$it` (see expand.ts). */
  readonly outer: readonly OutputProperty[]
  /** Its order is total, and `skip` and `top` count within the rows of one parent. */
  readonly query: BoundQuery
}

export interface OutputProperty {
  readonly name: string
  readonly type: EdmType
  readonly value: Expression
  /** Where the value stands in the JSON object, when that is not the name. Values of one nested object are neighbours. */
  readonly path?: readonly string[] | undefined
  /** A Boolean: whether a row has the value at all, which is left out where it has not; absent where each row has. */
  readonly mark?: Expression | undefined
  /** Whether the object at the first name of the path is null, and not left out, where a row has none of its values. */
  readonly isNullObject?: boolean | undefined
}
