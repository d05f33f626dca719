// $apply: a sequence of transformations, each bound to the result of the one before it (Data Aggregation 4.0,
// section 3).
//
// Inside groupby a sequence works on each group alone. Nothing is split for that: the rows keep the columns that they
// are grouped by, and every transformation takes these `groups` into account.

import { byKind } from '../../../core/by-kind.ts'
import { bindAggregate } from './aggregate.ts'
import { bindConcat } from './concat.ts'
import {
  entitiesWith,
  type GroupPath,
  groupings,
  groupPath,
  groupsWith,
  levelsOf,
  withKeys,
} from './group-path.ts'
import { scopeOfInput } from './these.ts'
import { bindRelatives, bindTraverse } from './hierarchy.ts'
import { bindRecursive } from './recursive.ts'
import { ofEachParent } from './parents.ts'
import { bindAddNested, bindNest } from './nest.ts'
import { bindJoin } from './join.ts'
import { bindExpression, bindOrder } from '../expression/expression.ts'
import { bindSearch } from '../expression/search.ts'
import { type Constant, type Expression, typeOf } from '../bound.ts'
import {
  applyContext,
  type ApplyRows,
  around,
  entityRows,
  type Input,
  isSortable,
  partitionOf,
  propertyValue,
  rowVariable,
  searchedRow,
  totalOrder,
  withValues,
} from './rows.ts'
import { scopeOfRows } from './row-scope.ts'
import { typeMismatch, unsupported } from '../../protocol/errors.ts'
import { withinLimits } from '../size.ts'
import { isInteger, isNumberType } from '../../edm/numbers.ts'
import { newName, type RequestContext } from '../scope.ts'
import type {
  AggregateItem,
  ComputeItem,
  HierarchySyntax,
  TransformationSyntax,
} from '../../syntax/syntax.ts'
import { asCondition } from '../expression/constants.ts'
import type { EntitySet } from '../../edm/model.ts'

/** `within` is the condition for the rows of the set that the sequence begins with. Throws RequestError 400 or 501. */
export function bindApply(
  sequence: readonly TransformationSyntax[],
  set: EntitySet,
  within: Expression | null,
  context: RequestContext,
): ApplyRows {
  const all = entityRows(set)
  const rows = within === null ? all : filtered(all, within)
  return bindSequence(sequence, { rows, groups: [], context: applyContext(context, [set]) })
}

export const bindSequence = (sequence: readonly TransformationSyntax[], input: Input): ApplyRows =>
  sequence.reduce((rows, syntax) => transform(syntax, { ...input, rows }), input.rows)

const transform = byKind<TransformationSyntax, ApplyRows, [input: Input]>({
  identity: (_, { rows }) => rows,
  filter(syntax, input) {
    const { scope, made } = scopeOfInput(input)
    const condition = asCondition(bindExpression(syntax.condition, scope), 'filter')
    return made(filtered(input.rows, withinLimits(condition, input.context)))
  },
  search: ({ search }, { rows, context }) =>
    filtered(rows, withinLimits(bindSearch(search, searchedRow(rows)), context)),
  compute: ({ items }, input) =>
    items.reduce((rows, item) => computed(item, { ...input, rows }), input.rows),
  orderby({ items }, input) {
    const { scope, made } = scopeOfInput(input)
    return made(withValues(input, [], bindOrder(items, scope).filter(isSortable)))
  },
  top: ({ rows }, input) => cut(input, 0, rows),
  skip: ({ rows }, input) => cut(input, rows, null),
  ranked: (syntax, input) => ranked(syntax, input),
  aggregate: ({ items }, input) =>
    ofEachParent(input, (given) =>
      items.some(({ from }) => from.length > 0)
        ? bindFrom(items, given)
        : bindAggregate(items, given),
    ),
  groupby: (syntax, input) => bindGroupBy(syntax, input),
  ancestors: (syntax, input) => bindRelatives(syntax, input, bindSequence),
  descendants: (syntax, input) => bindRelatives(syntax, input, bindSequence),
  traverse: (syntax, input) => bindTraverse(syntax, input, bindSequence),
  nest: (syntax, input) => bindNest(syntax, input, bindSequence),
  addnested: (syntax, input) => bindAddNested(syntax, input, bindSequence),
  join: (syntax, input) => bindJoin(syntax, input, bindSequence),
  concat: ({ branches }, input) =>
    bindConcat(
      branches.map((branch) => bindSequence(branch, input)),
      input.context,
    ),
})

function filtered(rows: ApplyRows, condition: Expression): ApplyRows {
  const { relation: from } = rows
  return around(rows, { kind: 'filter', from, row: rowVariable(rows), condition })
}

/** Later names may use earlier ones. */
function computed(item: ComputeItem, input: Input): ApplyRows {
  const { scope, made: madeOf } = scopeOfInput(input)
  const name = newName(item, scope)
  const value = withinLimits(bindExpression(item.value, scope), input.context)
  const type = typeOf(value)
  if (type === null) throw typeMismatch(`"${name}" is always null`)
  const made = madeOf(withValues(input, [{ path: [name], value, type }], []))
  return { ...made, added: made.added === null ? null : [...made.added, name] }
}

function cut({ rows, groups }: Input, skip: number, top: number | null): ApplyRows {
  const { relation: from } = rows
  const partition = partitionOf(rows, groups)
  const order = totalOrder(rows)
  return around(rows, { kind: 'window', from, row: rowVariable(rows), partition, order, skip, top })
}

type Ranked = TransformationSyntax & { readonly kind: 'ranked' }

/** Section 3.3.1. The service may choose the order of the result: it is the one in which the rows were chosen. */
function ranked(syntax: Ranked, input: Input): ApplyRows {
  const { isTop, until } = syntax
  const { rows, groups, context } = input
  const method = `${isTop ? 'top' : 'bottom'}${until}`
  const { scope, made } = scopeOfInput(input)
  const value = withinLimits(bindExpression(syntax.value, scope), context)
  const limit = rankLimit(until, method, bindExpression(syntax.limit, scope))
  const type = typeOf(value)
  if (type === null || (until !== 'count' && !isNumberType(type)))
    throw typeMismatch(`${method} does not take ${type?.name ?? 'null'}`)
  const order = [{ value, descending: isTop }]
  const sorted = made(withValues({ ...input, rows: { ...rows, order: [] } }, [], order))
  if (until === 'count') return cut({ ...input, rows: sorted }, 0, Number(limit.value))
  const [first] = sorted.order
  return around(sorted, {
    kind: 'running',
    from: sorted.relation,
    row: rowVariable(sorted),
    partition: partitionOf(sorted, groups),
    order: totalOrder(sorted),
    value: first === undefined ? value : propertyValue(sorted, first.property),
    limit,
    isPercent: until === 'percent',
  })
}

function rankLimit(until: Ranked['until'], method: string, limit: Expression): Constant {
  if (limit.kind === 'constant' && isNumberType(limit.type)) {
    const number = Number(limit.value)
    const isAllowed = {
      count: isInteger(limit.type) && number >= 1 && Number.isSafeInteger(number),
      sum: Number.isFinite(number),
      percent: number > 0 && number <= 100,
    }
    if (isAllowed[until]) return limit
  }
  const wanted = { count: 'a whole number above 0', sum: 'a number', percent: 'a number up to 100' }
  throw typeMismatch(`the first argument of ${method} must be ${wanted[until]}`)
}

type GroupBy = TransformationSyntax & { readonly kind: 'groupby' }

/** groupby, rollup and rolluprecursive (sections 3.2.3 and 6.3). */
function bindGroupBy({ groups: items, sequence }: GroupBy, input: Input): ApplyRows {
  const { rows, context } = input
  const scope = scopeOfRows(rows, context)
  const keyed = items.map((item) => ({
    ...item,
    paths: levelsOf(item, rows).map((path) => groupPath(path, scope)),
  }))
  const recursive = keyed.flatMap(({ nodes }) => nodes ?? [])
  const ofGroups = (paths: readonly GroupPath[], given: Input) => {
    const ready =
      paths.length === 0
        ? given
        : {
            rows: withKeys(given, paths),
            groups: groupsWith(given, paths),
            entities: entitiesWith(given, paths),
            context: given.context,
          }
    return sequence.length === 0
      ? (ready.parents ?? bindAggregate([], ready))
      : bindSequence(sequence, ready)
  }
  const ofNodes = (
    [first, ...others]: readonly HierarchySyntax[],
    paths: readonly GroupPath[],
    given: Input,
  ): ApplyRows =>
    first === undefined
      ? ofGroups(paths, given)
      : bindRecursive(first, given, bindSequence, (within) => ofNodes(others, paths, within))
  const [first, ...more] = groupings(keyed).map((paths) => ofNodes(recursive, paths, input)) as [
    ApplyRows,
    ...ApplyRows[],
  ]
  return more.length === 0 ? first : bindConcat([first, ...more], context)
}

/**
 * `amount with sum from month with average`: the sums of each month first, then the average of these (section 3.2.1.5).
 * The rows are grouped by everything at first, and by one `from` less at each step.
 */
function bindFrom(items: readonly AggregateItem[], input: Input): ApplyRows {
  const [item, ...others] = items as readonly [AggregateItem, ...AggregateItem[]]
  if (others.length > 0) throw unsupported('"from" combined with other items of aggregate')
  const { name, at } = item
  const { context } = input
  const scope = scopeOfRows(input.rows, context)
  const from = item.from.map(({ paths, method }) => ({
    paths: paths.map((path) => groupPath(path, scope)),
    method,
  }))
  const pathsAfter = (done: number) => from.slice(done).flatMap(({ paths }) => paths)
  const step = (own: AggregateItem, rows: ApplyRows, done: number) =>
    bindAggregate([own], { rows, groups: groupsWith(input, pathsAfter(done)), context })
  const first = step({ ...item, from: [] }, withKeys(input, pathsAfter(0)), 0)
  return from.reduce((made, { method }, i) => {
    const value = { kind: 'path', names: [name], keys: new Map(), at } as const
    return step({ value, method, from: [], name, at }, made, i + 1)
  }, first)
}
