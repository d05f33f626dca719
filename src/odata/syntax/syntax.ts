// What the text of a request says, before names mean anything. Positions (`at`) count characters of the decoded option
// from 0, for messages.
export interface RequestSyntax {
  readonly path: readonly PathSegment[]
  readonly options: OptionSyntax
  /** Values of `@name=…`, by name without the @. */
  readonly aliases: ReadonlyMap<string, ExpressionSyntax>
  /** The path must lead to one entity: it is the `$id` of `$entity`. */
  readonly isOneEntity?: boolean
}

/** `$metadata`, `$count`, `shop_orders`, `shop_orders(7)` or `$filter(amount gt 5)`. */
export interface PathSegment {
  readonly name: string
  readonly key: KeySyntax | null
  /** What stands in the parentheses after a name with a `$`. */
  readonly argument: string | null
  /** The whole segment, decoded. */
  readonly decoded: string
  /** The text as it was sent, percent-encoded. */
  readonly text: string
}

/** One unnamed value, or values by name. */
export type KeySyntax =
  | { readonly kind: 'value'; readonly value: ExpressionSyntax }
  | { readonly kind: 'named'; readonly values: readonly NamedValue[] }

export interface NamedValue {
  readonly name: string
  readonly value: ExpressionSyntax
}

/** The system query options that were given, each parsed; no others. */
export interface OptionSyntax {
  readonly apply?: readonly TransformationSyntax[]
  readonly compute?: readonly ComputeItem[]
  readonly select?: readonly SelectItem[]
  readonly expand?: readonly ExpandItem[]
  readonly filter?: ExpressionSyntax
  readonly search?: SearchSyntax
  readonly orderby?: readonly OrderItemSyntax[]
  readonly top?: number
  readonly skip?: number
  readonly count?: boolean
  readonly format?: string
  /** The URL of the entity that `$entity` stands for. */
  readonly id?: string
  /** Made by the service for its next links; its form is the service's own. */
  readonly skiptoken?: string
  /** The same of its delta links. */
  readonly deltatoken?: string
}

export type OptionName = keyof OptionSyntax

/** `*`, or the names of a path, with the options in its parentheses. */
export interface SelectItem {
  readonly path: readonly string[]
  readonly at: number
  readonly options?: OptionSyntax
  readonly levels?: number
  readonly aliases?: AliasSyntax
}

/** Values of `@name=…`, by name without the @. */
type AliasSyntax = ReadonlyMap<string, ExpressionSyntax>

/** `orders`, `orders/$ref`, `orders/$count` or `*`, with the options in its parentheses. */
export interface ExpandItem {
  readonly path: readonly string[]
  readonly form: 'entities' | 'references' | 'count'
  readonly options: OptionSyntax
  /** Given in the parentheses, for what stands in them. */
  readonly aliases: AliasSyntax
  /** How often the same navigation is followed; Infinity for `max`. */
  readonly levels: number
  readonly at: number
}

export interface OrderItemSyntax {
  readonly value: ExpressionSyntax
  readonly descending: boolean
}

export interface ComputeItem {
  readonly value: ExpressionSyntax
  readonly name: string
  readonly at: number
}

type Node<Kind extends string, Parts = unknown> = Readonly<{ kind: Kind } & Parts>

/** One transformation of $apply; a sequence of them is worked from the left. */
export type TransformationSyntax =
  | Node<'identity'>
  | Node<'filter', { condition: ExpressionSyntax }>
  | Node<'search', { search: SearchSyntax }>
  | Node<'compute', { items: readonly ComputeItem[] }>
  | Node<'orderby', { items: readonly OrderItemSyntax[] }>
  | Node<'top' | 'skip', { rows: number }>
  | Node<
      'ranked',
      { isTop: boolean; until: RankEnd; limit: ExpressionSyntax; value: ExpressionSyntax }
    >
  | Node<'aggregate', { items: readonly AggregateItem[] }>
  /** What is done with each group stands in the sequence; nothing: only the groups are wanted. */
  | Node<'groupby', { groups: readonly GroupItem[]; sequence: readonly TransformationSyntax[] }>
  | Node<'concat', { branches: readonly (readonly TransformationSyntax[])[] }>
  /** Rows whose value at the path is a node above or below those that the sequence `start` chooses. */
  | Node<
      'ancestors' | 'descendants',
      HierarchySyntax & {
        start: readonly TransformationSyntax[]
        distance: number | null
        keepStart: boolean
      }
    >
  /** Rows in the order of the trees that their nodes stand in. */
  | Node<'traverse', HierarchySyntax & { isPreorder: boolean; items: readonly OrderItemSyntax[] }>
  /** One row with these collections in it. */
  | Node<'nest', { items: readonly NestItem[] }>
  /** Each row with collections of the rows that the path leads to. */
  | Node<'addnested', { path: PathSyntax; items: readonly NestItem[] }>
  /** Each row with each of the rows that the path leads to, of which the sequence makes others first. */
  | Node<
      'join',
      {
        isOuter: boolean
        path: PathSyntax
        name: string
        at: number
        sequence: readonly TransformationSyntax[]
      }
    >

/** `$root/set,qualifier,path`; `within` chooses among the nodes, null: all. */
export type HierarchySyntax = Readonly<{
  nodes: PathSyntax
  qualifier: string
  path: PathSyntax
  within: readonly TransformationSyntax[] | null
  at: number
}>

/** What a sequence makes of rows, by a name. */
export interface NestItem {
  readonly sequence: readonly TransformationSyntax[]
  readonly name: string
  readonly at: number
}

type RankEnd = 'count' | 'sum' | 'percent'

/** `value with method as name`; without a value `$count as name`, without a method `orders/$count as name`. */
export interface AggregateItem {
  readonly value: ExpressionSyntax | null
  readonly method: string | null
  /** First by these paths too, then what was made of them by the method: `with sum from month with average`. */
  readonly from: readonly FromSyntax[]
  readonly name: string
  readonly at: number
}

export interface FromSyntax {
  readonly paths: readonly PathSyntax[]
  readonly method: string
}

export interface GroupItem {
  /** Those of a rollup come from the coarsest to the finest. One alone may name a hierarchy with levels. */
  readonly paths: readonly PathSyntax[]
  readonly isRollup: boolean
  /** Whether there is a group of all rows too: `rollup($all,…)`. */
  readonly withTotal: boolean
  /** The rows are grouped by these nodes, each with all below it: `rolluprecursive(…)`. */
  readonly nodes?: HierarchySyntax
}

export type SearchSyntax =
  | Node<'term', { text: string }>
  | Node<'not', { operand: SearchSyntax }>
  | Node<'and' | 'or', { operands: readonly SearchSyntax[] }>

export type LiteralForm =
  | 'null'
  | 'boolean'
  | 'number'
  | 'string'
  | 'date'
  | 'date-time'
  | 'time-of-day'
  | 'guid'
  | 'duration'
  | 'binary'
  | 'enum'
  | 'geography'
  | 'geometry'

export type ArithmeticOperator = 'add' | 'sub' | 'mul' | 'div' | 'divby' | 'mod'
export type ComparisonOperator = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le'
export type BinaryOperator = ArithmeticOperator | ComparisonOperator | 'in' | 'has' | 'and' | 'or'

/** `inParentheses`: one value in parentheses, which is a list of one after "in". */
export type ExpressionSyntax = { readonly at: number; readonly inParentheses?: true } & (
  | Node<'literal', { form: LiteralForm; text: string }>
  | Node<'alias', { name: string }>
  | (Node<'path'> & NamesSyntax)
  /** `path/$count`, with what is said of the rows that count by `$filter` and `$search`. */
  | Node<
      'count',
      { path: NamesSyntax; filter: ExpressionSyntax | null; search: SearchSyntax | null }
    >
  /** `path/aggregate(value with method)`; `aggregate($count)` has neither. */
  | Node<'total', { path: NamesSyntax; value: ExpressionSyntax | null; method: string | null }>
  /** `path/any(variable:condition)`; `any()` has neither. */
  | Node<
      'lambda',
      {
        quantifier: 'any' | 'all'
        path: NamesSyntax
        variable: string
        condition: ExpressionSyntax | null
      }
    >
  | Node<'case', { branches: readonly BranchSyntax[] }>
  /** `names`: those of the operands, where they have some. */
  | Node<'call', { name: string; operands: readonly ExpressionSyntax[]; names?: readonly string[] }>
  /** `(1,2)` */
  | Node<'list', { items: readonly ExpressionSyntax[] }>
  /** `[1,2]` */
  | Node<'array', { items: readonly ExpressionSyntax[] }>
  /** `{"a":1}` */
  | Node<'object', { members: readonly MemberSyntax[] }>
  | Node<'not' | 'negate', { operand: ExpressionSyntax }>
  /** `and` and `or` have two operands or more, the others two. */
  | Node<'operator', { operator: BinaryOperator; operands: readonly ExpressionSyntax[] }>
)

export interface BranchSyntax {
  readonly condition: ExpressionSyntax
  readonly value: ExpressionSyntax
}

export interface MemberSyntax {
  readonly name: string
  readonly value: ExpressionSyntax
  readonly at: number
}

/** The names of a path, and by their places in it the keys after them. */
export interface NamesSyntax {
  readonly names: readonly string[]
  readonly keys: ReadonlyMap<number, KeySyntax>
}

/** Begins the name that stands for `Aggregation.rollupnode(Position=1)` in a path; its place follows. */
export const ROLLUP_NODE = '$rollupnode '

export type PathSyntax = ExpressionSyntax & { readonly kind: 'path' }
export type LiteralSyntax = ExpressionSyntax & { readonly kind: 'literal' }
export type CallSyntax = ExpressionSyntax & { readonly kind: 'call' }
