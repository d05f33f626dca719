// The options that choose, sort and cut: of the rows of a request, of an expansion, of the items of a collection.

import { bindExpression } from './expression.ts'
import { type Expression, type OrderItem, typeOf } from '../bound.ts'
import { odataError } from '../../protocol/errors.ts'
import { withinLimits } from '../size.ts'
import type { Scope } from '../scope.ts'
import type { ExpressionSyntax, OptionSyntax, OrderItemSyntax } from '../../syntax/syntax.ts'
import { asCondition } from './constants.ts'

export const boundWindow = ({ count, skip, top }: OptionSyntax) => ({
  withCount: count ?? false,
  skip: skip ?? 0,
  top: top ?? null,
})

export const bindFilter = (filter: ExpressionSyntax, scope: Scope): Expression =>
  asCondition(withinLimits(bindExpression(filter, scope), scope.request), 'a filter')

/** The items of an orderby. */
export const bindOrder = (items: readonly OrderItemSyntax[], scope: Scope): readonly OrderItem[] =>
  items.map(({ value, descending }) => ({
    value: sortable(withinLimits(bindExpression(value, scope), scope.request)),
    descending,
  }))

function sortable(value: Expression): Expression {
  const type = typeOf(value)
  if (type === null || type.kind === 'primitive') return value
  throw odataError('type-mismatch', `rows cannot be sorted by ${type.name}`)
}
