// $apply: a sequence of transformations, each bound to the result of the one before it (Data Aggregation 4.0,
// section 3).
//
// Inside groupby a sequence works on each group alone. Nothing is split for that: the rows keep the columns that they
// are grouped by, and every transformation takes these `groups` into account.

import { bindAggregate } from './aggregate.ts'
import { bindExpression, bindOrder } from '../expression/expression.ts'
import { bindConcat } from './concat.ts'
import { bindSearch } from '../expression/search.ts'
import {
  inputOf,
  type ApplyContext,
  type ApplyRows,
  around,
  entityRows,
  isSortable,
  type NewValue,
  partitionOf,
  propertyValue,
  rowVariable,
  searchedRow,
  totalOrder,
  withValues,
  pathKey,
  scopeOfRows,
} from './rows.ts'
import { type Constant, type Expression, typeOf } from '../bound.ts'
import { unsupported, typeMismatch } from '../../protocol/errors.ts'
import { withinLimits } from '../size.ts'
import { isInteger, isNumberType } from '../../edm/numbers.ts'
import { newName, type RequestContext, type Scope } from '../scope.ts'
import type {
  ComputeItem,
  TransformationSyntax,
  AggregateItem,
  PathSyntax,
} from '../../syntax/syntax.ts'
import { asCondition } from '../expression/constants.ts'
import type { EntitySet, NavigationProperty } from '../../edm/model.ts'
import { bindPath, pathTarget } from '../expression/path.ts'

/** `within` is the condition for the rows of the set that the sequence begins with. Throws RequestError 400 or 501. */
export function bindApply(
  sequence: readonly TransformationSyntax[],
  set: EntitySet,
  within: Expression | null,
  context: RequestContext,
): ApplyRows {
  const all = entityRows(set)
  const rows = within === null ? all : filtered(all, within)
  return bindSequence(sequence, rows, [], { ...context, columnCount: 0 })
}

/** `groups`: paths of the values that the rows are grouped by at the moment. */
export function bindSequence(
  sequence: readonly TransformationSyntax[],
  rows: ApplyRows,
  groups: readonly string[],
  context: ApplyContext,
): ApplyRows {
  return sequence.reduce((made, syntax) => transform(syntax, made, groups, context), rows)
}

function transform(
  syntax: TransformationSyntax,
  rows: ApplyRows,
  groups: readonly string[],
  context: ApplyContext,
): ApplyRows {
  switch (syntax.kind) {
    case 'identity':
      return rows
    case 'filter': {
      const { scope, made } = inputOf(rows, groups, context)
      const condition = bindExpression(syntax.condition, scope)
      return made(filtered(rows, withinLimits(asCondition(condition, 'filter'), context)))
    }
    case 'search':
      return filtered(rows, withinLimits(bindSearch(syntax.search, searchedRow(rows)), context))
    case 'compute':
      return syntax.items.reduce((made, item) => computed(made, item, groups, context), rows)
    case 'orderby': {
      const { scope, made } = inputOf(rows, groups, context)
      const items = bindOrder(syntax.items, scope).filter(isSortable)
      return made(withValues(rows, [], items, context))
    }
    case 'top':
      return cut(rows, groups, 0, syntax.rows)
    case 'skip':
      return cut(rows, groups, syntax.rows, null)
    case 'ranked':
      return ranked(syntax, rows, groups, context)
    case 'aggregate':
      if (syntax.items.some(({ from }) => from.length > 0))
        return bindFrom(syntax.items, rows, groups, context)
      return bindAggregate(syntax.items, rows, groups, context)
    case 'groupby':
      return bindGroupBy(syntax, rows, groups, context)
    case 'concat':
      return bindConcat(
        syntax.branches.map((branch) => bindSequence(branch, rows, groups, context)),
        context,
      )
  }
}

function filtered(rows: ApplyRows, condition: Expression): ApplyRows {
  const { relation: from } = rows
  return around(rows, { kind: 'filter', from, row: rowVariable(rows), condition })
}

/** Later names may use earlier ones. */
function computed(
  rows: ApplyRows,
  item: ComputeItem,
  groups: readonly string[],
  context: ApplyContext,
): ApplyRows {
  const { scope, made: madeOf } = inputOf(rows, groups, context)
  const name = newName(item, scope)
  const value = withinLimits(bindExpression(item.value, scope), context)
  const type = typeOf(value)
  if (type === null) throw typeMismatch(`"${name}" is always null`)
  const added: NewValue = { path: [name], value, type }
  const made = madeOf(withValues(rows, [added], [], context))
  return { ...made, added: made.added === null ? null : [...made.added, name] }
}

function cut(
  rows: ApplyRows,
  groups: readonly string[],
  skip: number,
  top: number | null,
): ApplyRows {
  const { relation: from } = rows
  const partition = partitionOf(rows, groups)
  const order = totalOrder(rows)
  return around(rows, { kind: 'window', from, row: rowVariable(rows), partition, order, skip, top })
}

/** Section 3.3.1. The service may choose the order of the result: it is the one in which the rows were chosen. */
function ranked(
  syntax: TransformationSyntax & { readonly kind: 'ranked' },
  rows: ApplyRows,
  groups: readonly string[],
  context: ApplyContext,
): ApplyRows {
  const { isTop, until } = syntax
  const method = `${isTop ? 'top' : 'bottom'}${until}`
  const { scope, made } = inputOf(rows, groups, context)
  const value = withinLimits(bindExpression(syntax.value, scope), context)
  const limit = rankLimit(syntax, method, bindExpression(syntax.limit, scope))
  const type = typeOf(value)
  if (type === null || (until !== 'count' && !isNumberType(type)))
    throw typeMismatch(`${method} does not take ${type?.name ?? 'null'}`)
  const order = [{ value, descending: isTop }]
  const sorted = made(withValues({ ...rows, order: [] }, [], order, context))
  if (until === 'count') return cut(sorted, groups, 0, Number(limit.value))
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

function rankLimit(
  { until }: TransformationSyntax & { readonly kind: 'ranked' },
  method: string,
  limit: Expression,
): Constant {
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

// groupby and rollup (Data Aggregation 4.0, section 3.2.3), and `from`, which groups in steps (section 3.2.1.5).

type GroupBySyntax = TransformationSyntax & { readonly kind: 'groupby' }

function bindGroupBy(
  { groups: items, sequence }: GroupBySyntax,
  rows: ApplyRows,
  groups: readonly string[],
  context: ApplyContext,
): ApplyRows {
  const scope = scopeOfRows(rows, context)
  const keyed = items.map((item) => ({
    ...item,
    paths: item.paths.map((path) => groupPath(path, scope)),
  }))
  const [first, ...more] = groupings(keyed).map((paths) => {
    const ready = withKeys(rows, paths, context)
    const all = [...new Set([...groups, ...paths.map(({ names }) => pathKey(names))])]
    return sequence.length === 0
      ? bindAggregate([], ready, all, context)
      : bindSequence(sequence, ready, all, context)
  }) as [ApplyRows, ...ApplyRows[]]
  return more.length === 0 ? first : bindConcat([first, ...more], context)
}

/**
 * `amount with sum from month with average`: the sums of each month first, then the average of these (section 3.2.1.5).
 * The rows are grouped by everything at first, and by one `from` less at each step.
 */
function bindFrom(
  items: readonly AggregateItem[],
  rows: ApplyRows,
  groups: readonly string[],
  context: ApplyContext,
): ApplyRows {
  const [item, ...others] = items as readonly [AggregateItem, ...AggregateItem[]]
  if (others.length > 0) throw unsupported('"from" combined with other items of aggregate')
  const { name, at } = item
  const scope = scopeOfRows(rows, context)
  const from = item.from.map(({ paths, method }) => ({
    paths: paths.map((path) => groupPath(path, scope)),
    method,
  }))
  const keyed = withKeys(
    rows,
    from.flatMap(({ paths }) => paths),
    context,
  )
  const groupsAfter = (done: number) => [
    ...new Set([
      ...groups,
      ...from.slice(done).flatMap(({ paths }) => paths.map(({ names }) => pathKey(names))),
    ]),
  ]
  const first = bindAggregate([{ ...item, from: [] }], keyed, groupsAfter(0), context)
  return from.reduce((made, { method }, i) => {
    const value = { kind: 'path', names: [name], keys: new Map(), at } as const
    return bindAggregate([{ value, method, from: [], name, at }], made, groupsAfter(i + 1), context)
  }, first)
}

/** What rows are grouped by: a value, or the key of an entity that the rows lead to. */
type GroupPath = PathSyntax & { readonly entity?: NavigationProperty }

interface GroupPaths {
  readonly paths: readonly GroupPath[]
  readonly withTotal: boolean
}

function groupPath(path: PathSyntax, scope: Scope): GroupPath {
  if (path.names[0] === '$it') throw unsupported('$it in groupby')
  if (path.names.some((name) => name.includes('.'))) throw unsupported('a type cast in groupby')
  if (scope.computed.has(path.names.join('/'))) return path
  const target = pathTarget(path, path.at, scope)
  if (target.kind !== 'one') return path
  const { navigation } = target
  if (navigation === null || path.names.length > 1)
    throw unsupported('an entity reached through another in groupby')
  return { ...path, names: [...path.names, navigation.on.theirs.name], entity: navigation }
}

/** Each rollup stands for its levels from the finest to the coarsest; several for all combinations. */
function groupings(items: readonly GroupPaths[]): readonly (readonly GroupPath[])[] {
  return items.reduce<readonly (readonly GroupPath[])[]>(
    (before, { paths, withTotal }) => {
      const isRollup = paths.length > 1 || withTotal
      const levels = isRollup
        ? Array.from({ length: paths.length + (withTotal ? 1 : 0) }, (_, i) =>
            paths.slice(0, paths.length - i),
          )
        : [paths]
      const combined = before.flatMap((start) => levels.map((level) => [...start, ...level]))
      return combined.map(withoutRepeats)
    },
    [[]],
  )
}

function withoutRepeats(paths: readonly GroupPath[]): readonly GroupPath[] {
  return [...new Map(paths.map((path) => [pathKey(path.names), path])).values()]
}

/** Properties reached through navigation become values of the rows. */
function withKeys(rows: ApplyRows, paths: readonly GroupPath[], context: ApplyContext): ApplyRows {
  const scope = scopeOfRows(rows, context)
  const known = rows.values.map(({ path }) => pathKey(path))
  const added = paths.flatMap((path) => {
    const value = withinLimits(bindPath(path, scope), context)
    const type = typeOf(value)!
    if (type.kind !== 'primitive') throw typeMismatch(`rows cannot be grouped by ${type.name}`)
    if (known.includes(pathKey(path.names))) return []
    return [{ path: path.names, value, type, entity: path.entity }]
  })
  return added.length === 0 ? rows : withValues(rows, added, [], context)
}
