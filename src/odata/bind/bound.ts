// Expressions and rows whose names and types have been resolved against the entity model of one snapshot. What follows from
// here (the printer of SQL, the JSON writer) can no longer meet a mistake of the caller.

import type { CallName } from './expression/functions.ts'
import type { TotalMethod } from './apply/aggregate-method.ts'
import type { ComparisonOperator } from '../syntax/syntax.ts'
import { type CollectionType, type ComplexType, edm, type EdmType } from '../edm/types.ts'
import type { Measure } from '../../core/meaning.ts'
import type { EntitySet, Property } from '../edm/model.ts'

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

/** A node of the bound request, which is told by its kind. */
type Node<Kind extends string, Parts = unknown> = Readonly<{ kind: Kind } & Parts>

/** Comparisons, `in` and `exists` are true or false, never null; every other kind may be null. */
export type Expression =
  | Node<'null'>
  | Constant
  | PropertyValue
  | Node<'cast', { type: EdmType; operand: Expression }>
  | Node<'compare', { operator: ComparisonOperator; left: Expression; right: Expression }>
  | Node<'in', { operand: Expression; list: readonly [Constant, ...Constant[]] }>
  | Node<'logical', { operator: 'and' | 'or'; operands: readonly Expression[] }>
  | Node<'not', { operand: Expression }>
  | Call
  | Node<'case', { type: EdmType; branches: readonly Branch[] }>
  /** A property of a complex value; null when that is null. */
  | Node<'member', { type: EdmType; of: Expression; name: string }>
  /** The item at hand of the source with that alias. */
  | Node<'item', { type: EdmType; alias: string }>
  /** A collection that the request writes out. */
  | Node<'array', { type: CollectionType; items: readonly Expression[] }>
  /** An object that the request writes out; comparisons take it apart, and nothing else takes it. */
  | Node<'object', { type: ComplexType; members: readonly ObjectMember[] }>
  /** Items of a collection: those for which the condition holds, in an order or in their own, some of them skipped or cut. */
  | (Node<'items', { type: CollectionType; source: ItemSource; condition: Expression | null }> &
      Cut)
  /** `value` in the one row of the source; null when there is none. */
  | Node<'related', { source: RowSource; value: Expression }>
  /** `value` in one row of the source by its place in that order, counted from 0; null when there are fewer rows. */
  | Node<'nth', { source: RowSource; order: Order; place: number; value: Expression }>
  /** A list of the key and the value of all rows that the links lead to, one link after the other. */
  | Node<
      'gathered',
      {
        type: EdmType
        sources: readonly RowSource[]
        key: readonly Expression[]
        value: Expression
      }
    >
  /** One value of all rows or items. */
  | (Node<'total', { source: RowSource | ItemSource }> & Total)
  /** Whether it is one of those nodes. */
  | Node<'isNode', { value: Expression; nodes: NodeSet }>
  /** The number of a row in that order, from 1 on; a column of a relation and nothing else. */
  | Node<'rowNumber', { type: EdmType; order: Order }>
  /** Whether `theirs` is equal to what `ours` is in the one row for which the condition holds. Null when it is null. */
  | Node<
      'reached',
      { row: RowVariable; condition: Expression; ours: PropertyValue; theirs: PropertyValue }
    >
  /** Whether the condition holds for any, or for all, of the rows or items. */
  | (Node<'exists', { quantifier: 'any' | 'all' }> & Counted)
  | (Node<'count'> & Counted)

/** Rows that are nodes of trees: `parent` of one is `node` of the one above it. */
export interface NodeRows {
  readonly rows: Relation
  readonly row: RowVariable
  readonly node: Property
  readonly parent: Property
}

/** Some of the nodes. One of whose parent there is no row is a root. */
export type NodeSet = { readonly of: NodeRows } & (
  | { readonly which: 'node' | 'root' | 'leaf' }
  /** Those with the same parent as that node, or roots as it is. */
  | { readonly which: 'sibling'; readonly start: Expression }
  /** `distance`: at most so many steps away; null: any number. `withStart`: those that the steps begin at, too. */
  | {
      readonly which: 'ancestor' | 'descendant'
      readonly start: Expression
      readonly distance: number | null
      readonly withStart: boolean
    }
)

/** Rows with what is said of each. */
interface Chosen {
  readonly rows: Relation
  readonly row: RowVariable
}

/** The nodes that the steps to others begin at: what `value` is in each row, for rows with the same `partition`. */
interface StartNodes extends Chosen {
  readonly value: Expression
  readonly partition: readonly Expression[]
  /** Whether each of the values is a node for certain. */
  readonly areNodes: boolean
}

/** Some of the nodes, in an order. */
export interface ChosenNodes extends Chosen {
  readonly node: Property
  readonly order: Order
}

type Order = readonly OrderItem[]

interface Branch {
  readonly condition: Expression
  readonly value: Expression
}

interface ObjectMember {
  readonly name: string
  readonly value: Expression
  readonly at: number
}

/** Rows or items of which not all are meant. */
interface Cut {
  readonly order: Order
  readonly skip: number
  readonly top: number | null
}

interface Counted {
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
  /** The literal as the request has it, where that is another text. */
  readonly written?: string
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

/** What must hold together for the condition to hold; null: nothing. */
export const conjunctsOf = (condition: Expression | null): readonly Expression[] =>
  condition === null
    ? []
    : condition.kind === 'logical' && condition.operator === 'and'
      ? condition.operands.flatMap(conjunctsOf)
      : [condition]

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
    case 'isNode':
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

/** One value of all values of an expression. */
export interface Total {
  readonly method: TotalMethod
  readonly type: EdmType
  /** null: whole rows are counted. */
  readonly value: Expression | null
  readonly measure?: Measure
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

type Step<Kind extends string, Parts> = Node<Kind, Parts> & RelationStep

/** Of rows whose value is a node that a root leads to; `place` is a column for what the node brings. */
interface NodeRowsStep {
  readonly columns: readonly ColumnValue[]
  readonly place: string
  readonly value: Expression
  readonly nodes: NodeRows
  /** Where the trees begin, or which nodes are meant; null: at the roots, all. */
  readonly chosen: ChosenNodes | null
}

export type Relation =
  | Node<'set', { set: EntitySet }>
  | Step<'filter', { condition: Expression }>
  /** These columns and no others. */
  | Step<'project', { columns: readonly ColumnValue[] }>
  /** One row for each different combination of the keys; without keys one row, even when there is nothing to group. */
  | Step<'group', { keys: readonly ColumnValue[]; aggregates: readonly AggregateColumn[] }>
  /** In each partition the rows from `skip` on, at most `top`. */
  | Step<'window', { partition: readonly Expression[] } & Cut>
  /**
   * In each partition the first rows, until the sum of `value` reaches the limit, or such a part in a hundred of the sum
   * over the partition.
   */
  | Step<
      'running',
      {
        partition: readonly Expression[]
        order: Order
        value: Expression
        limit: Expression
        isPercent: boolean
      }
    >
  /**
   * Each row with each row of `other` for which all conditions hold; `isOuter`: a row without any stays, once.
   * The columns may name both.
   */
  | Step<
      'join',
      {
        other: Relation
        otherRow: RowVariable
        on: readonly Expression[]
        isOuter: boolean
        columns: readonly ColumnValue[]
      }
    >
  /** Those whose node stands above or below that of a row of `start` with the same `partition`; see NodeSet. */
  | Step<
      'relatives',
      {
        which: 'ancestor' | 'descendant'
        value: Expression
        partition: readonly Expression[]
        nodes: NodeRows
        start: StartNodes
        distance: number | null
        withStart: boolean
      }
    >
  /**
   * The rows with the place of their node in the order of the trees; `order` is that of nodes with the same parent. `up`
   * is a column for the nodes above it, from its parent on, where the trees need not begin at roots.
   */
  | Step<'traverse', NodeRowsStep & { order: Order; isPreorder: boolean; up: string | null }>
  /** Each row with its node and with every one above it. */
  | Step<'above', NodeRowsStep>
  /** The nodes that a root leads to, each once. */
  | Node<'nodes', { nodes: NodeRows; chosen: ChosenNodes | null; column: string }>
  /** Every combination of one row of each part. */
  | Node<'cross', { parts: readonly RowVariable[]; columns: readonly ColumnValue[] }>
  /** The parts have the same columns in the same order. */
  | Node<'union', { parts: readonly Relation[] }>

/** A relation around another one. */
export type StepRelation = Exclude<Relation, { readonly kind: 'set' | 'union' | 'cross' | 'nodes' }>
