// Paths: properties, computed names, and what lies behind navigation properties. Rows on the other side of a
// navigation property become a subquery that the engine joins.

import { asCondition, bindExpression } from './bind-expression.ts'
import type { Expression, Link, RowVariable } from './bound.ts'
import type { NavigationProperty } from './entity-model.ts'
import { odataError } from './errors.ts'
import { findNavigation, findProperty, newRow, type Scope, unsupported } from './scope.ts'
import type { ExpressionSyntax, PathSyntax } from './syntax.ts'

type Wrap = (value: Expression) => Expression

/** Where a path has led so far, and how a value found there becomes one of the expression around it. */
interface Position {
  readonly row: RowVariable
  readonly names: readonly string[]
  readonly wrap: Wrap
}

export function bindPath({ names, at }: PathSyntax, scope: Scope): Expression {
  const computed = scope.computed.get(names.join('/'))
  if (computed !== undefined) return computed
  const { row, names: rest, wrap } = followToOne(start(names, scope), scope)
  const [name, ...more] = rest
  if (name === undefined)
    throw odataError(
      'type-mismatch',
      `an entity is no value: name a property of it (at character ${at + 1})`,
    )
  const navigation = findNavigation(row.set.type, name)
  if (navigation !== undefined)
    throw odataError(
      'type-mismatch',
      navigation.many
        ? `${name} is a collection: any, all or $count can follow (at character ${at + 1})`
        : `${name} is an entity: name a property of it (at character ${at + 1})`,
    )
  const property = findProperty(row.set.type, name, at)
  if (more.length > 0)
    throw odataError('unknown-property', `${name} is ${property.type.name} and has no properties`)
  return wrap({ kind: 'property', type: property.type, row, property })
}

function start(names: readonly string[], scope: Scope): Position {
  const [first = '', ...rest] = names
  if (first === '$it' && scope.request.expandDepth > 0) throw unsupported('$it within $expand')
  const variable = first === '$it' ? scope.request.row : scope.variables.get(first)
  const wrap: Wrap = (value) => value
  return variable === undefined
    ? { row: scope.row, names, wrap }
    : { row: variable, names: rest, wrap }
}

/** Goes along navigation to one as long as more names follow. */
function followToOne({ row, names, wrap }: Position, scope: Scope): Position {
  const [name, ...rest] = names
  const navigation = name === undefined ? undefined : findNavigation(row.set.type, name)
  if (navigation === undefined || navigation.many || rest.length === 0) return { row, names, wrap }
  const target = newRow(scope, navigation.target)
  const link = linkOf(navigation, row)
  const related: Wrap = (value) => {
    if (value.kind === 'null') return value
    return wrap({ kind: 'related', row: target, link, value })
  }
  return followToOne({ row: target, names: rest, wrap: related }, scope)
}

const linkOf = ({ on }: NavigationProperty, row: RowVariable): Link => ({
  ours: { kind: 'property', type: on.ours.type, row, property: on.ours },
  theirs: on.theirs,
})

/** The navigation that a path ends in: `orders`, `customer/orders`, `o/items`. */
function bindNavigation(names: readonly string[], at: number, scope: Scope) {
  const { row, names: rest, wrap } = followToOne(start(names, scope), scope)
  const [name, ...more] = rest
  const navigation = name === undefined ? undefined : findNavigation(row.set.type, name)
  if (name === undefined || navigation === undefined || more.length > 0) {
    if (name !== undefined && navigation === undefined) findProperty(row.set.type, name, at)
    throw odataError(
      'type-mismatch',
      `${names.join('/')} is no navigation property (at character ${at + 1})`,
    )
  }
  return { navigation, link: linkOf(navigation, row), wrap }
}

type CountSyntax = ExpressionSyntax & { readonly kind: 'count' }

/** `orders/$count`, or `orders/$count($filter=…)`, whose condition speaks of an order. */
export function bindCount({ path, filter, at }: CountSyntax, scope: Scope): Expression {
  const { navigation, link, wrap } = toMany(path, at, scope)
  const row = newRow(scope, navigation.target)
  const inner = { ...scope, row, computed: NOTHING_COMPUTED }
  const condition = filter === null ? null : asCondition(bindExpression(filter, inner), '$filter')
  return wrap({ kind: 'count', row, link, condition })
}

const NOTHING_COMPUTED: Scope['computed'] = new Map()

type LambdaSyntax = ExpressionSyntax & { readonly kind: 'lambda' }

/** `orders/any(o:…)`; `any()` is whether there is a row at all. */
export function bindLambda(syntax: LambdaSyntax, scope: Scope): Expression {
  const { quantifier, path, variable, condition, at } = syntax
  const { navigation, link, wrap } = toMany(path, at, scope)
  const row = newRow(scope, navigation.target)
  const inner = { ...scope, variables: new Map([...scope.variables, [variable, row]]) }
  const bound =
    condition === null ? null : asCondition(bindExpression(condition, inner), quantifier)
  return wrap({ kind: 'exists', quantifier, row, link, condition: bound })
}

function toMany(path: readonly string[], at: number, scope: Scope) {
  const found = bindNavigation(path, at, scope)
  if (found.navigation.many) return found
  throw odataError(
    'type-mismatch',
    `${path.join('/')} is one entity and no collection (at character ${at + 1})`,
  )
}

/** `customer eq null`: null when the path ends in no navigation property to one. */
export function bindEntityIsNull(
  names: readonly string[],
  at: number,
  scope: Scope,
): Expression | null {
  const position = followToOne(start(names, scope), scope)
  const [name, ...more] = position.names
  const navigation = name === undefined ? undefined : findNavigation(position.row.set.type, name)
  if (navigation === undefined || navigation.many || more.length > 0) return null
  const { link, wrap } = bindNavigation(names, at, scope)
  const row = newRow(scope, navigation.target)
  const exists = wrap({ kind: 'exists', quantifier: 'any', row, link, condition: null })
  return { kind: 'not', operand: exists }
}

/** The key of the one entity that a path leads to, which stands for it in countdistinct; null for any other path. */
export function bindDistinctKey(syntax: ExpressionSyntax, scope: Scope): Expression | null {
  if (syntax.kind !== 'path') return null
  const { row, names } = followToOne(start(syntax.names, scope), scope)
  const [name, ...more] = names
  const navigation = name === undefined ? undefined : findNavigation(row.set.type, name)
  if (navigation === undefined || navigation.many || more.length > 0) return null
  return bindPath({ ...syntax, names: [...syntax.names, navigation.on.theirs.name] }, scope)
}
