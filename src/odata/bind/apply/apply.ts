// $apply: a sequence of transformations, each bound to the result of the one before it (Data Aggregation 4.0,
// section 3).
//
// Inside groupby a sequence works on each group alone. Nothing is split for that: the rows keep the columns that they
// are grouped by, and every transformation takes these `groups` into account.

import { bindAggregate } from './aggregate.ts'
import { bindExpression, bindOrder } from '../expression/expression.ts'
import { bindConcat } from './concat.ts'
import { bindFrom, bindGroupBy } from './groupby.ts'
import { bindSearch } from '../expression/search.ts'
import { inputOf } from './these.ts'
import { type Constant, type Expression, typeOf } from '../bound.ts'
import {
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
} from './rows.ts'
import { odataError } from '../../protocol/errors.ts'
import { withinLimits } from '../size.ts'
import { isInteger, isNumberType } from '../../edm/numbers.ts'
import { newName, type RequestContext } from '../scope.ts'
import type { ComputeItem, TransformationSyntax } from '../../syntax/syntax.ts'
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
  if (type === null) throw odataError('type-mismatch', `"${name}" is always null`)
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
    throw odataError('type-mismatch', `${method} does not take ${type?.name ?? 'null'}`)
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
  throw odataError('type-mismatch', `the first argument of ${method} must be ${wanted[until]}`)
}
