// How large the SQL of an expression becomes. Names given by $compute and parameter aliases are inlined where they are
// used, and some functions write an operand several times, so a short request could mean an endless statement.
//
// Also what follows from it: how much work a query is, so that small ones are admitted alongside long ones, and whether an
// expression changes the order in which DuckDB gives rows.

import { byKind } from '../../core/by-kind.ts'
import { limits } from '../../core/limits.ts'
import {
  type OrderItem,
  type Expression,
  typeOf,
  type ItemSource,
  type RowSource,
} from './bound.ts'
import type { BoundQuery } from './bound-request.ts'
import { odataError } from '../protocol/errors.ts'

interface Measure {
  /** Nodes as often as they are written. */
  readonly size: number
  readonly depth: number
  readonly hasObject: boolean
}

/**
 * How often each operand of the expression is written in its SQL, in the order of operandsOf; once where nothing is said.
 * The printer of the SQL says it (sql/expression.ts).
 */
type CopiesOf = (expression: Expression) => readonly number[]

export interface Costs {
  readonly copiesOf: CopiesOf
}

/** To measure a smaller expression again costs less than to remember it, unless sizeOf() could not tell its size. */
const SMALL = 16

/** Each expression that is not small is measured once. */
const measures = new WeakMap<Expression, Measure>()

/** A subquery costs DuckDB as much as many plain nodes. */
const SUBQUERY_SIZE = 100

/** The expression itself, when it can be written as SQL within limits; else RequestError 400 or 501. */
export function withinLimits(expression: Expression, { copiesOf }: Costs): Expression {
  if (measure(expression, copiesOf).hasObject)
    throw odataError('not-supported', 'a JSON object can only be compared by eq, ne and in')
  return expression
}

/** The same for a part of an expression, which may also be an object: what compares it takes the object apart. */
export function partWithinLimits(expression: Expression, { copiesOf }: Costs): Expression {
  measure(expression, copiesOf)
  return expression
}

const LEAF: Measure = { size: 1, depth: 1, hasObject: false }

function measure(expression: Expression, copiesOf: CopiesOf): Measure {
  if (isLeaf(expression)) return LEAF
  const known = measures.get(expression)
  if (known !== undefined) return known
  let written = 1
  let size = isSubquery(expression) ? SUBQUERY_SIZE : 1
  let depth = 0
  let hasObject = expression.kind === 'object'
  const copies = copiesOf(expression)
  let i = 0
  for (const operand of operandsOf(expression)) {
    const inner = measure(operand, copiesOf)
    written += inner.size
    size += inner.size * (copies[i++] ?? 1)
    depth = Math.max(depth, inner.depth)
    hasObject ||= inner.hasObject
  }
  if (size > limits.expressionSize || depth >= limits.boundDepth)
    throw odataError(
      'expression-too-deep',
      'the expression is too large once all aliases and computed names are expanded',
    )
  const result = { size, depth: depth + 1, hasObject }
  if (size > SMALL || size !== written) measures.set(expression, result)
  return result
}

/** Nodes of an expression, as often as they are written; only once where it was not measured. */
const sizeOf = (expression: Expression): number =>
  measures.get(expression)?.size ??
  operandsOf(expression).reduce((size, operand) => size + sizeOf(operand), 1)

/** Whether DuckDB may give rows in another order than they are stored in, because of it. */
export const mayReorder = (expression: Expression): boolean =>
  hasNode(expression, (node) => isSubquery(node) || comparesNested(node))

/** DuckDB returns rows where one side is NULL first. */
const comparesNested = (expression: Expression): boolean =>
  expression.kind === 'compare' && typeOf(expression.left)?.kind !== 'primitive'

/** Whether it is calculated from other rows than the one at hand. */
export const hasSubquery = (expression: Expression): boolean => hasNode(expression, isSubquery)

/** Whether it or a part of it is of that sort; a leaf never is. */
const hasNode = (expression: Expression, isMeant: (node: Expression) => boolean): boolean =>
  !isLeaf(expression) &&
  (isMeant(expression) || operandsOf(expression).some((operand) => hasNode(operand, isMeant)))

const isSubquery = (expression: Expression) =>
  expression.kind === 'in' ? isLongList(expression.list) : SUBQUERIES.has(expression.kind)

const SUBQUERIES: ReadonlySet<Expression['kind']> = new Set([
  'related',
  'exists',
  'count',
  'reached',
  'isNode',
  'items',
  'nth',
  'gathered',
  'total',
] as const)

/** Such a list is written as a subquery. */
export const isLongList = (list: readonly unknown[]) => list.length > limits.writtenItems

/** Rows that it gives: no more than a page has, more, or the entity with a key, which lies in one place of the file. */
export type Extent = 'page' | 'more' | 'one'

/** Whether it ends soon: it looks at one set alone, without a query inside it, and at no more than some rows of that. */
export function isSmallQuery(query: BoundQuery, extent: Extent): boolean {
  const { relation, set, filter, output, expand, order } = query
  if (relation.kind !== 'set' || expand.length > 0 || extent === 'more') return false
  const perRow = [...(filter === null ? [] : [filter]), ...order.map(({ value }) => value)]
  if ([...perRow, ...output.map(({ value }) => value)].some(mayReorder)) return false
  const size = perRow.reduce((sum, expression) => sum + sizeOf(expression), 0)
  // What a token shows only a part of is read whole to find that part.
  if (set.only.length > 0) return set.storedRows * (size + 1) <= limits.smallQueryWork
  return extent === 'one' || set.relation.rows * size <= limits.smallQueryWork
}

/** How many related rows one row of the query brings along on average, by the rows that the sets have. */
export function relatedRowsOf({ set, expand }: BoundQuery): number {
  const related = expand.map(({ many, countOnly, query }) => {
    if (countOnly) return 0
    const each = many ? query.set.relation.rows / Math.max(1, set.relation.rows) : 1
    return Math.min(each, query.top ?? Infinity) * (1 + relatedRowsOf(query))
  })
  return related.reduce((sum, rows) => sum + rows, 0)
}

/** What most expressions consist of; it has no operands. */
const isLeaf = ({ kind }: Expression): boolean =>
  kind === 'property' || kind === 'constant' || kind === 'null' || kind === 'item'

/** In the order in which CopiesOf counts them (size.ts). */
export const operandsOf = byKind<Expression, readonly Expression[]>({
  null: () => [],
  constant: () => [],
  property: () => [],
  item: () => [],
  cast: ({ operand }) => [operand],
  not: ({ operand }) => [operand],
  compare: ({ left, right }) => [left, right],
  in: ({ operand, list }) => [operand, ...list],
  logical: ({ operands }) => operands,
  call: ({ operands }) => operands,
  case: ({ branches }) => branches.flatMap(({ condition, value }) => [condition, value]),
  member: ({ of }) => [of],
  array: ({ items }) => items,
  object: ({ members }) => members.map(({ value }) => value),
  items: ({ source, condition, order }) => [source.list, ...given(condition), ...valuesOf(order)],
  gathered: ({ sources, key, value }) => [...sources.flatMap(sourceOperands), ...key, value],
  total: ({ source, value }) => [...sourceOperands(source), ...given(value)],
  rowNumber: ({ order }) => valuesOf(order),
  nth: ({ source, order, value }) => [...sourceOperands(source), ...valuesOf(order), value],
  related: ({ source, value }) => [...sourceOperands(source), value],
  reached: ({ theirs, ours, condition }) => [theirs, ours, condition],
  isNode: ({ value, nodes }) => [value, ...('start' in nodes ? [nodes.start] : [])],
  exists: ({ source, condition }) => [...sourceOperands(source), ...given(condition)],
  count: ({ source, condition }) => [...sourceOperands(source), ...given(condition)],
})

function sourceOperands(source: RowSource | ItemSource): readonly Expression[] {
  if (source.kind === 'items') return [source.list]
  const { link, key } = source
  return [...given(link === null ? null : link.ours), ...given(key)]
}

const given = (expression: Expression | null) => (expression === null ? [] : [expression])

const valuesOf = (order: readonly OrderItem[]) => order.map(({ value }) => value)
