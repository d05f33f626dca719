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

/** One transformation of $apply; a sequence of them is worked from the left. */
export type TransformationSyntax =
  | { readonly kind: 'identity' }
  | { readonly kind: 'filter'; readonly condition: ExpressionSyntax }
  | { readonly kind: 'search'; readonly search: SearchSyntax }
  | { readonly kind: 'compute'; readonly items: readonly ComputeItem[] }
  | { readonly kind: 'orderby'; readonly items: readonly OrderItemSyntax[] }
  | { readonly kind: 'top' | 'skip'; readonly rows: number }
  | {
      readonly kind: 'ranked'
      readonly isTop: boolean
      readonly until: 'count' | 'sum' | 'percent'
      readonly limit: ExpressionSyntax
      readonly value: ExpressionSyntax
    }
  | { readonly kind: 'aggregate'; readonly items: readonly AggregateItem[] }
  | {
      readonly kind: 'groupby'
      readonly groups: readonly GroupItem[]
      /** What is done with each group; nothing: only the groups are wanted. */
      readonly sequence: readonly TransformationSyntax[]
    }
  | {
      readonly kind: 'concat'
      readonly branches: readonly (readonly TransformationSyntax[])[]
    }

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

/** Paths of a rollup come from the coarsest to the finest; one path alone is not a rollup. */
export interface GroupItem {
  readonly paths: readonly PathSyntax[]
  /** Whether there is a group of all rows too: `rollup($all,…)`. */
  readonly withTotal: boolean
}

export type SearchSyntax =
  | { readonly kind: 'term'; readonly text: string }
  | { readonly kind: 'not'; readonly operand: SearchSyntax }
  | { readonly kind: 'and' | 'or'; readonly operands: readonly SearchSyntax[] }

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
  | 'geo'

export type ArithmeticOperator = 'add' | 'sub' | 'mul' | 'div' | 'divby' | 'mod'
export type ComparisonOperator = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le'
export type BinaryOperator = ArithmeticOperator | ComparisonOperator | 'in' | 'has' | 'and' | 'or'

/** `inParentheses`: one value in parentheses, which is a list of one after "in". */
export type ExpressionSyntax = { readonly at: number; readonly inParentheses?: true } & (
  | { readonly kind: 'literal'; readonly form: LiteralForm; readonly text: string }
  | { readonly kind: 'alias'; readonly name: string }
  | ({ readonly kind: 'path' } & NamesSyntax)
  /** `path/$count`, with what is said of the rows that count by `$filter` and `$search`. */
  | {
      readonly kind: 'count'
      readonly path: NamesSyntax
      readonly filter: ExpressionSyntax | null
      readonly search: SearchSyntax | null
    }
  /** `path/aggregate(value with method)`; `aggregate($count)` has neither. */
  | {
      readonly kind: 'total'
      readonly path: NamesSyntax
      readonly value: ExpressionSyntax | null
      readonly method: string | null
    }
  /** `path/any(variable:condition)`; `any()` has neither. */
  | {
      readonly kind: 'lambda'
      readonly quantifier: 'any' | 'all'
      readonly path: NamesSyntax
      readonly variable: string
      readonly condition: ExpressionSyntax | null
    }
  | {
      readonly kind: 'case'
      readonly branches: readonly {
        readonly condition: ExpressionSyntax
        readonly value: ExpressionSyntax
      }[]
    }
  | {
      readonly kind: 'call'
      readonly name: string
      readonly operands: readonly ExpressionSyntax[]
    }
  /** `(1,2)` */
  | { readonly kind: 'list'; readonly items: readonly ExpressionSyntax[] }
  /** `[1,2]` */
  | { readonly kind: 'array'; readonly items: readonly ExpressionSyntax[] }
  /** `{"a":1}` */
  | {
      readonly kind: 'object'
      readonly members: readonly {
        readonly name: string
        readonly value: ExpressionSyntax
        readonly at: number
      }[]
    }
  | { readonly kind: 'not' | 'negate'; readonly operand: ExpressionSyntax }
  | {
      /** `and` and `or` have two operands or more, the others two. */
      readonly kind: 'operator'
      readonly operator: BinaryOperator
      readonly operands: readonly ExpressionSyntax[]
    }
)

/** The names of a path, and by their places in it the keys after them. */
export interface NamesSyntax {
  readonly names: readonly string[]
  readonly keys: ReadonlyMap<number, KeySyntax>
}

export type PathSyntax = ExpressionSyntax & { readonly kind: 'path' }
export type LiteralSyntax = ExpressionSyntax & { readonly kind: 'literal' }
export type CallSyntax = ExpressionSyntax & { readonly kind: 'call' }
