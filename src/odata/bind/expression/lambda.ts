// What is said of the members of a collection: `orders/any(o:…)`, `tags/all(t:…)`, `orders/$count($filter=…)`.

import { itemsOf } from '../scope.ts'
import { bindTotal } from '../apply/aggregate.ts'
import { bindExpression } from './expression.ts'
import { pathTarget, type Wrap } from './path.ts'
import { bindSearch } from './search.ts'
import { type Expression, type ItemSource, type RowSource, typeOf } from '../bound.ts'
import { odataError, unsupported } from '../../protocol/errors.ts'
import { type RowNames, NOTHING_NAMED, type Scope, type ScopeVariable } from '../scope.ts'
import type { ExpressionSyntax, NamesSyntax } from '../../syntax/syntax.ts'
import { asCondition } from './constants.ts'

interface Members {
  readonly source: RowSource | ItemSource
  /** One of them. */
  readonly member: ScopeVariable
  readonly wrap: Wrap
  readonly named: RowNames
}

/** The entities that a navigation property leads to, or the items of a collection. */
function membersOf(path: NamesSyntax, at: number, scope: Scope): Members {
  const target = pathTarget(path, at, scope)
  if (target.kind === 'many') {
    const { source, wrap, named = NOTHING_NAMED } = target
    return { source, member: source.row, wrap, named }
  }
  const type = target.kind === 'value' ? typeOf(target.value) : null
  if (target.kind === 'value' && type?.kind === 'collection') {
    const { value, wrap } = target
    return { ...itemsOf(value, scope), wrap, named: NOTHING_NAMED }
  }
  throw odataError(
    'type-mismatch',
    `${path.names.join('/')} is not a collection (at character ${at + 1})`,
  )
}

type CountSyntax = ExpressionSyntax & { readonly kind: 'count' }

/** `orders/$count`, or `orders/$count($filter=…;$search=…)`, whose condition speaks of an order. */
export function bindCount({ path, filter, search, at }: CountSyntax, scope: Scope): Expression {
  const { source, member, wrap, named } = membersOf(path, at, scope)
  const inner = scopeWithin(scope, member, named)
  const conditions: Expression[] = []
  if (search !== null) {
    if (source.kind === 'items') throw unsupported('$search in a list')
    conditions.push(bindSearch(search, source.row))
  }
  if (filter !== null) conditions.push(asCondition(bindExpression(filter, inner), '$filter'))
  return wrap({ kind: 'count', source, condition: allOf(conditions) })
}

/** Null when there is none. */
function allOf(operands: readonly Expression[]): Expression | null {
  const [only = null, ...more] = operands
  return more.length === 0 ? only : { kind: 'logical', operator: 'and', operands }
}

/** Unqualified names are those of the member. */
const scopeWithin = (scope: Scope, member: ScopeVariable, named = NOTHING_NAMED): Scope =>
  'kind' in member
    ? { ...scope, item: member, ...named }
    : { ...scope, row: member, item: null, ...named }

type TotalSyntax = ExpressionSyntax & { readonly kind: 'total' }

/** `orders/aggregate(amount with sum)`, whose expression speaks of an order. */
export function bindPathTotal({ path, value, method, at }: TotalSyntax, scope: Scope): Expression {
  const { source, member, wrap, named } = membersOf(path, at, scope)
  if (value === null) return wrap({ kind: 'count', source, condition: null })
  const total = bindTotal({ value, method, at }, scopeWithin(scope, member, named))
  return wrap({ kind: 'total', source, ...total })
}

type LambdaSyntax = ExpressionSyntax & { readonly kind: 'lambda' }

/** `orders/any(o:…)`; `any()` is whether there is a member at all. */
export function bindLambda(syntax: LambdaSyntax, scope: Scope): Expression {
  const { quantifier, path, variable, condition, at } = syntax
  const { source, member, wrap, named } = membersOf(path, at, scope)
  const prefixed = (values: ReadonlyMap<string, Expression>) =>
    Array.from(values, ([name, value]) => [`${variable}/${name}`, value] as const)
  const inner = {
    ...scope,
    computed: new Map([...scope.computed, ...prefixed(named.computed)]),
    marks: new Map([...scope.marks, ...prefixed(named.marks)]),
    variables: new Map([...scope.variables, [variable, member]]),
  }
  const bound =
    condition === null ? null : asCondition(bindExpression(condition, inner), quantifier)
  return wrap({ kind: 'exists', quantifier, source, condition: bound })
}
