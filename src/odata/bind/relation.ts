// Rows that a query reads from: those of an entity set, or what the transformations of $apply have made of them.
//
// Each transformation is one SELECT around the relation before it. Columns that a transformation makes have names of
// their own (c1, c2, …), because the names of OData differ by letter case and those of the engine do not.

import type { Sql } from '../../core/sql.ts'
import type { Expression, OrderItem, RowVariable } from './bound.ts'
import type { EntitySet } from '../edm/entity-model.ts'

export interface NamedColumn {
  readonly column: string
  readonly value: Expression
}

export interface AggregateColumn {
  readonly column: string
  /** null: whole rows are counted. */
  readonly value: Expression | null
  readonly sql: (value: Sql) => Sql
}

/** What every transformation has: the relation before it, and how expressions name a row of that. */
interface Step {
  readonly from: Relation
  readonly row: RowVariable
}

export type Relation =
  | { readonly kind: 'set'; readonly set: EntitySet }
  | (Step & { readonly kind: 'filter'; readonly condition: Expression })
  /** These columns and no others. */
  | (Step & { readonly kind: 'project'; readonly columns: readonly NamedColumn[] })
  /** One row for each different combination of the keys; without keys one row, even when there is nothing to group. */
  | (Step & {
      readonly kind: 'group'
      readonly keys: readonly NamedColumn[]
      readonly aggregates: readonly AggregateColumn[]
    })
  /** Of each partition the rows from `skip` on, at most `top`. */
  | (Step & {
      readonly kind: 'window'
      readonly partition: readonly Expression[]
      readonly order: readonly OrderItem[]
      readonly skip: number
      readonly top: number | null
    })
  /** Of each partition the first rows, until the sum of `value` reaches the limit. */
  | (Step & {
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
      readonly columns: readonly NamedColumn[]
    }
  /** The parts have the same columns in the same order. */
  | { readonly kind: 'union'; readonly parts: readonly Relation[] }
