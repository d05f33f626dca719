// A request whose names and types have been resolved against the entity model of one snapshot. What follows from here
// (the printer of SQL, the JSON writer) can no longer meet a mistake of the caller.

import type { CallName } from './expression/functions.ts'
import type { ComparisonOperator } from '../syntax/syntax.ts'
import { type CollectionType, type ComplexType, edm, type EdmType } from '../edm/types.ts'
import type { EntitySet, NavigationProperty, Property } from '../edm/model.ts'

export type BoundRequest =
  | { readonly kind: 'service-document' }
  | { readonly kind: 'metadata' }
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
  /** Navigation properties whose links metadata=full writes; absent where the rows are not entities. */
  readonly navigation?: readonly NavigationProperty[] | undefined
  /** Related entities that are written into each row. */
  readonly expand: readonly Expansion[]
  /** Key predicate, `$search` and `$filter` in one. */
  readonly filter: Expression | null
  /** The requested order, made total by the key; empty: the order in which the rows are stored. */
  readonly order: readonly OrderItem[]
  readonly withCount: boolean
  readonly skip: number
  readonly top: number | null
  /** What follows `$metadata#` in the context URL, such as `shop_customers(name,city)` or `shop_customers/$entity`. */
  readonly contextFragment: string
}

export interface Expansion {
  readonly name: string
  readonly many: boolean
  /** Only the number of related entities is written. */
  readonly countOnly: boolean
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
}

export interface OrderItem {
  readonly value: Expression
  readonly descending: boolean
}

/** A row that expressions speak of: `$it`, or the variable of a lambda. */
export interface RowVariable {
  readonly alias: string
  readonly set: EntitySet
}

/**
 * Rows of a set, or of the relation that stands for it: those that a link leads to, or all; and of these the ones for
 * which `key` holds.
 */
export interface RowSource {
  readonly kind: 'rows'
  readonly row: RowVariable
  readonly link: KeyLink | null
  readonly key: Expression | null
  readonly relation?: Relation
}

export interface ItemSource {
  readonly kind: 'items'
  readonly alias: string
  readonly list: Expression
}

/** Comparisons, `in` and `exists` are true or false, never null; every other kind may be null. */
export type Expression =
  | { readonly kind: 'null' }
  | Constant
  | PropertyValue
  | { readonly kind: 'cast'; readonly type: EdmType; readonly operand: Expression }
  | {
      readonly kind: 'compare'
      readonly operator: ComparisonOperator
      readonly left: Expression
      readonly right: Expression
    }
  | {
      readonly kind: 'in'
      readonly operand: Expression
      readonly list: readonly [Constant, ...Constant[]]
    }
  | {
      readonly kind: 'logical'
      readonly operator: 'and' | 'or'
      readonly operands: readonly Expression[]
    }
  | { readonly kind: 'not'; readonly operand: Expression }
  | Call
  | {
      readonly kind: 'case'
      readonly type: EdmType
      readonly branches: readonly { readonly condition: Expression; readonly value: Expression }[]
    }
  /** A property of a complex value; null when that is null. */
  | {
      readonly kind: 'member'
      readonly type: EdmType
      readonly of: Expression
      readonly name: string
    }
  /** The item at hand of the source with that alias. */
  | { readonly kind: 'item'; readonly type: EdmType; readonly alias: string }
  /** A collection that the request writes out. */
  | {
      readonly kind: 'array'
      readonly type: CollectionType
      readonly items: readonly Expression[]
    }
  /** An object that the request writes out; comparisons take it apart, and nothing else takes it. */
  | {
      readonly kind: 'object'
      readonly type: ComplexType
      readonly members: readonly {
        readonly name: string
        readonly value: Expression
        readonly at: number
      }[]
    }
  /** Items of a collection: those for which the condition holds, in an order or in their own, some of them skipped or cut. */
  | {
      readonly kind: 'items'
      readonly type: CollectionType
      readonly source: ItemSource
      readonly condition: Expression | null
      readonly order: readonly OrderItem[]
      readonly skip: number
      readonly top: number | null
    }
  /** `value` in the one row of the source; null when there is none. */
  | { readonly kind: 'related'; readonly source: RowSource; readonly value: Expression }
  /** `value` in one row of the source by its place in that order, counted from 0; null when there are fewer rows. */
  | {
      readonly kind: 'nth'
      readonly source: RowSource
      readonly order: readonly OrderItem[]
      readonly place: number
      readonly value: Expression
    }
  /** A list of the key and the value of all rows that the links lead to, one link after the other. */
  | {
      readonly kind: 'gathered'
      readonly type: EdmType
      readonly sources: readonly RowSource[]
      readonly key: readonly Expression[]
      readonly value: Expression
    }
  /** One value of all rows or items. */
  | ({ readonly kind: 'total'; readonly source: RowSource | ItemSource } & Total)
  /** The number of a row in that order, from 1 on; a column of a relation and nothing else. */
  | { readonly kind: 'rowNumber'; readonly type: EdmType; readonly order: readonly OrderItem[] }
  /** Whether `theirs` is equal to what `ours` is in the one row for which the condition holds. Null when it is null. */
  | {
      readonly kind: 'reached'
      readonly row: RowVariable
      readonly condition: Expression
      readonly ours: PropertyValue
      readonly theirs: PropertyValue
    }
  /** Whether the condition holds for any, or for all, of the rows or items. */
  | {
      readonly kind: 'exists'
      readonly quantifier: 'any' | 'all'
      readonly source: RowSource | ItemSource
      readonly condition: Expression | null
    }
  | {
      readonly kind: 'count'
      readonly source: RowSource | ItemSource
      readonly condition: Expression | null
    }

export interface Call {
  readonly kind: 'call'
  readonly name: CallName
  readonly type: EdmType
  readonly operands: readonly Expression[]
}

/** A value as text that DuckDB reads as one of `type`. */
export interface Constant {
  readonly kind: 'constant'
  readonly type: EdmType
  readonly value: string
}

export interface PropertyValue {
  readonly kind: 'property'
  readonly type: EdmType
  readonly row: RowVariable
  readonly property: Property
}

export const call = (name: CallName, type: EdmType, ...operands: readonly Expression[]): Call => ({
  kind: 'call',
  name,
  type,
  operands,
})

export const constant = (type: EdmType, value: string): Constant => ({
  kind: 'constant',
  type,
  value,
})

export const NULL: Expression = { kind: 'null' }

/** Null of a type, by which DuckDB chooses functions. */
export const nullOf = (type: EdmType): Expression => ({ kind: 'cast', type, operand: NULL })

export const not = (operand: Expression): Expression => ({ kind: 'not', operand })

export const and = (operands: readonly Expression[]): Expression => ({
  kind: 'logical',
  operator: 'and',
  operands,
})

export const or = (operands: readonly Expression[]): Expression => ({
  kind: 'logical',
  operator: 'or',
  operands,
})

export const compare = (
  operator: ComparisonOperator,
  left: Expression,
  right: Expression,
): Expression => ({ kind: 'compare', operator, left, right })

export function propertyOf(row: RowVariable, property: Property): PropertyValue {
  return { kind: 'property', type: property.type, row, property }
}

/** Leads from a row to those of another set whose property `theirs` is equal to `ours`. */
export interface KeyLink {
  readonly ours: PropertyValue
  readonly theirs: Property
}

/** null for the literal null, which is of every type. */
export function typeOf(expression: Expression): EdmType | null {
  switch (expression.kind) {
    case 'null':
      return null
    case 'compare':
    case 'in':
    case 'logical':
    case 'not':
    case 'exists':
    case 'reached':
      return edm.Boolean
    case 'count':
      return edm.Int64
    case 'related':
    case 'nth':
      return typeOf(expression.value)
    default:
      return expression.type
  }
}

// Rows that a query reads from: those of an entity set, or the result of transformations of $apply.
//
// Each transformation is one SELECT around the relation before it. Columns that a transformation makes have names of
// their own (c1, c2, …), because names are case-sensitive in OData and not in DuckDB.

/** What totals are called in the bound request. Each has its SQL in sql/methods.ts. */
export type TotalMethod =
  | 'sum'
  | 'min'
  | 'max'
  | 'average'
  /** The average of decimals. */
  | 'exactAverage'
  /** These two count values that are not null. */
  | 'count'
  | 'countdistinct'
  /** The number of rows. */
  | 'rowCount'
  /** The sum of values that are counts. */
  | 'sumOfCounts'

/** One value of all values of an expression. */
export interface Total {
  readonly method: TotalMethod
  readonly type: EdmType
  /** null: whole rows are counted. */
  readonly value: Expression | null
}

export interface ColumnValue {
  readonly column: string
  readonly value: Expression
}

export interface AggregateColumn extends Total {
  readonly column: string
}

/** What every transformation has: the relation before it, and how expressions name a row of that. */
interface RelationStep {
  readonly from: Relation
  readonly row: RowVariable
}

export type Relation =
  | { readonly kind: 'set'; readonly set: EntitySet }
  | (RelationStep & { readonly kind: 'filter'; readonly condition: Expression })
  /** These columns and no others. */
  | (RelationStep & { readonly kind: 'project'; readonly columns: readonly ColumnValue[] })
  /** One row for each different combination of the keys; without keys one row, even when there is nothing to group. */
  | (RelationStep & {
      readonly kind: 'group'
      readonly keys: readonly ColumnValue[]
      readonly aggregates: readonly AggregateColumn[]
    })
  /** In each partition the rows from `skip` on, at most `top`. */
  | (RelationStep & {
      readonly kind: 'window'
      readonly partition: readonly Expression[]
      readonly order: readonly OrderItem[]
      readonly skip: number
      readonly top: number | null
    })
  /** In each partition the first rows, until the sum of `value` reaches the limit. */
  | (RelationStep & {
      readonly kind: 'running'
      readonly partition: readonly Expression[]
      readonly order: readonly OrderItem[]
      readonly value: Expression
      readonly limit: Expression
      /** Whether the limit is a part in a hundred of the sum over the partition. */
      readonly isPercent: boolean
    })
  /** Every combination of one row of each part. */
  | {
      readonly kind: 'cross'
      readonly parts: readonly RowVariable[]
      readonly columns: readonly ColumnValue[]
    }
  /** The parts have the same columns in the same order. */
  | { readonly kind: 'union'; readonly parts: readonly Relation[] }

/** A relation around another one. */
export type StepRelation = Exclude<Relation, { readonly kind: 'set' | 'union' | 'cross' }>
