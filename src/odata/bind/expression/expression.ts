// From the syntax of an expression to a typed one. Names are looked up in the entity model and nowhere else, so an
// expression can only speak of properties that the snapshot has.

import { byKind } from '../../../core/by-kind.ts'
import { limits } from '../../../core/limits.ts'
import { RequestError } from '../../../http/request-error.ts'
import { bindArithmetic, bindNegation } from './arithmetic.ts'
import { bindCall, bindCase, bindHas, commonValueType } from './call.ts'
import { bindComparison } from './comparison.ts'
import { bindLiteral, asCondition, booleanConstant, cast } from './constants.ts'
import {
  bindCount,
  bindLambda,
  bindPathTotal,
  bindEntityIsNull,
  bindPath,
  bindSameEntity,
} from './path.ts'
import { type Constant, type Expression, typeOf, type OrderItem, NULL, not, or } from '../bound.ts'
import {
  odataError,
  unsupported,
  typeMismatch,
  malformed,
  unknownProperty,
} from '../../protocol/errors.ts'
import { functionNames } from './functions.ts'
import { partWithinLimits, withinLimits } from '../size.ts'
import { findNavigation, itemsOf, type Scope, scopeOf } from '../scope.ts'
import { foreignWord } from '../../syntax/foreign-values.ts'
import type { ExpressionSyntax, OptionSyntax, OrderItemSyntax } from '../../syntax/syntax.ts'
import { isGeoName } from '../../edm/geo.ts'
import { collectionOf, edm, untypedObject } from '../../edm/types.ts'

/** Throws RequestError 400 or 501. */
export const bindExpression: (syntax: ExpressionSyntax, scope: Scope) => Expression = byKind({
  literal: (syntax) => bindLiteral(syntax),
  alias: ({ name }, scope) => bindAlias(name, scope),
  path: (syntax, scope) => bindPath(syntax, scope),
  call: (syntax, scope) => bindCall(syntax, scope),
  case: ({ branches }, scope) =>
    bindCase(
      branches.map(({ condition, value }) => ({
        condition: asCondition(bindExpression(condition, scope), 'case'),
        value: bindExpression(value, scope),
      })),
    ),
  count: (syntax, scope) => bindCount(syntax, scope),
  lambda: (syntax, scope) => bindLambda(syntax, scope),
  total: (syntax, scope) => bindPathTotal(syntax, scope),
  not: ({ operand }, scope) => not(asCondition(bindExpression(operand, scope), 'not')),
  negate: ({ operand }, scope) => bindNegation(bindExpression(operand, scope)),
  list({ at }) {
    throw typeMismatch(`a list of values can only stand after "in" (at character ${at + 1})`)
  },
  array: ({ items }, scope) => bindArray(items.map((item) => bindExpression(item, scope))),
  object: ({ members }, scope) => ({
    kind: 'object',
    type: untypedObject,
    members: members.map((member) => ({ ...member, value: bindExpression(member.value, scope) })),
  }),
  operator: (syntax, scope) => bindOperator(syntax, scope),
})

/** All items get one common type, also those that are null. */
function bindArray(items: readonly Expression[]): Expression {
  const type = items.map(typeOf).reduce(commonValueType, null) ?? edm.String
  if (type === untypedObject) return { kind: 'array', type: collectionOf(untypedObject), items }
  if (type.kind === 'collection') {
    // Collections within a collection exist only here, where each is compared on its own.
    return { kind: 'array', type: collectionOf(edm.String), items }
  }
  const values = items.map((item) => cast(item, type))
  return { kind: 'array', type: collectionOf(type), items: values }
}

type OperatorSyntax = ExpressionSyntax & { readonly kind: 'operator' }

function bindOperator(syntax: OperatorSyntax, scope: Scope): Expression {
  const bind = (operand: ExpressionSyntax) => bindExpression(operand, scope)
  const { operator, operands } = syntax
  const [left, right] = operands.map((operand) => asEntityPath(operand, scope)) as [
    ExpressionSyntax,
    ExpressionSyntax,
  ]
  switch (operator) {
    case 'and':
    case 'or':
      return {
        kind: 'logical',
        operator,
        operands: operands.map((operand) => asCondition(bind(operand), operator)),
      }
    case 'in':
      return bindIn(bind(left), right, scope)
    case 'has':
      return bindHas(bind(left), bind(right))
    case 'eq':
    case 'ne':
      return withTextHint(right, () => bindEquality(operator, left, right, scope))
    case 'gt':
    case 'ge':
    case 'lt':
    case 'le':
      return withTextHint(right, () => bindComparison(operator, bind(left), bind(right)))
    default:
      return bindArithmetic(operator, bind(left), bind(right))
  }
}

/** Compares values, or entities, which are equal when their keys are. */
function bindEquality(
  operator: 'eq' | 'ne',
  left: ExpressionSyntax,
  right: ExpressionSyntax,
  scope: Scope,
): Expression {
  if ([left, right].some((side) => isReference(side, scope)))
    throw unsupported('a comparison with a reference to an entity')
  const found =
    bindSameEntity(left, right, scope) ??
    entityIsNull(left, right, scope) ??
    entityIsNull(right, left, scope)
  if (found !== null) return operator === 'eq' ? found : not(found)
  return bindComparison(operator, bindExpression(left, scope), bindExpression(right, scope))
}

/** A word after an operator that is not a property is most often a text without its quotes. */
function withTextHint(right: ExpressionSyntax, bound: () => Expression): Expression {
  try {
    return bound()
  } catch (error) {
    const word = right.kind === 'path' && right.names.length === 1 ? right.names[0]! : null
    const isUnknown = error instanceof RequestError && error.code === 'unknown-property'
    const { message } = error as Error
    if (word === null || !isUnknown || message.includes(';') || !message.includes(`"${word}"`))
      throw error
    throw unknownProperty(`${message}; ${foreignWord(word) ?? `for text write '${word}'`}`)
  }
}

/** `{"@odata.id":"…"}`, or an alias for it. */
function isReference(syntax: ExpressionSyntax, { request }: Scope): boolean {
  const named = syntax.kind === 'alias' ? request.aliases.get(syntax.name) : syntax
  return named?.kind === 'object' && named.members.some(({ name }) => /^@(odata\.)?id$/.test(name))
}

/** `orders(7)` is an entity, which the grammar takes for the call of a function. */
function asEntityPath(syntax: ExpressionSyntax, { row, item }: Scope): ExpressionSyntax {
  if (syntax.kind !== 'call' || item !== null || functionNames.includes(syntax.name)) return syntax
  const { name, operands, at } = syntax
  const [value, ...more] = operands
  if (value?.kind !== 'literal' || more.length > 0) return syntax
  if (findNavigation(row.set.type, name) === undefined) return syntax
  return { kind: 'path', names: [name], keys: new Map([[0, { kind: 'value', value }]]), at }
}

/** `customer eq null` asks whether there is such a row. */
function entityIsNull(path: ExpressionSyntax, other: ExpressionSyntax, scope: Scope) {
  const isNull = other.kind === 'literal' && other.form === 'null'
  return isNull && path.kind === 'path' ? bindEntityIsNull(path, scope) : null
}

/** After `in` stands a list, an alias for one, one value in parentheses, or what leads to a collection. */
function bindIn(operand: Expression, right: ExpressionSyntax, scope: Scope): Expression {
  const named = right.kind === 'alias' ? scope.request.aliases.get(right.name) : right
  if (named?.kind === 'list') requirePrimitives(named.items)
  if (named?.kind === 'list' || named?.kind === 'array')
    return isOneOf(
      operand,
      withoutRepeats(named.items).map((item) => bindExpression(item, scope)),
    )
  const value = bindExpression(right, scope)
  if (typeOf(value)?.kind !== 'collection') {
    if (named?.inParentheses !== true)
      throw typeMismatch(
        `"in" must be followed by a list in parentheses or a collection (at character ${right.at + 1})`,
      )
    return isOneOf(operand, [value])
  }
  const { source, member } = itemsOf(value, scope)
  const condition = bindComparison('eq', member, operand)
  return { kind: 'exists', quantifier: 'any', source, condition }
}

/** DuckDB treats each property of a list as a separate comparison, so a name is taken once. */
function withoutRepeats(items: readonly ExpressionSyntax[]): readonly ExpressionSyntax[] {
  const seen = new Set<string>()
  return items.filter((item) => {
    if (item.kind !== 'path' || item.keys.size > 0) return true
    const name = item.names.join('/')
    if (seen.has(name)) return false
    seen.add(name)
    return true
  })
}

/** What stands in parentheses after `in` is plain values; brackets take all expressions (ABNF, listExpr). */
function requirePrimitives(items: readonly ExpressionSyntax[]): void {
  const other = items.find(({ kind }) => kind !== 'literal' && kind !== 'alias')
  if (other !== undefined)
    throw malformed(
      `a list in parentheses can only hold literals (at character ${other.at + 1}); write [a,b] for anything else`,
    )
}

/** Constants of the operand's own type become one list; other items are compared one by one. */
function isOneOf(operand: Expression, items: readonly Expression[]): Expression {
  const constants: Constant[] = []
  const others: Expression[] = []
  for (const item of items) {
    const comparison = bindComparison('eq', operand, item)
    if (comparison.kind === 'constant' && comparison.value === 'false') continue
    const isPlain =
      comparison.kind === 'compare' &&
      comparison.left === operand &&
      comparison.right.kind === 'constant'
    if (isPlain) constants.push(comparison.right as Constant)
    else others.push(comparison)
  }
  const [first, ...rest] = constants
  if (first !== undefined) others.unshift({ kind: 'in', operand, list: [first, ...rest] })
  if (others.length === 0) return booleanConstant(false)
  return others.length === 1 ? others[0]! : or(others)
}

/** An alias without a value is null (URL conventions 5.2). Its names mean what they mean outside of all lambdas. */
function bindAlias(name: string, { request }: Scope): Expression {
  const { aliases, boundAliases, openAliases } = request
  const known = boundAliases.get(name)
  if (known !== undefined) return known
  const syntax = aliases.get(name)
  if (syntax === undefined) return NULL
  if (openAliases.includes(name))
    throw odataError('unknown-alias', `the parameter alias @${name} refers to itself`)
  if (openAliases.length >= limits.expressionDepth)
    throw odataError('expression-too-deep', 'too many parameter aliases refer to each other')
  openAliases.push(name)
  const value = partWithinLimits(bindExpression(syntax, scopeOf(request)), request)
  openAliases.pop()
  boundAliases.set(name, value)
  return value
}

export const boundWindow = ({ count, skip, top }: OptionSyntax) => ({
  withCount: count ?? false,
  skip: skip ?? 0,
  top: top ?? null,
})

export const bindFilter = (filter: ExpressionSyntax, scope: Scope): Expression =>
  asCondition(withinLimits(bindExpression(filter, scope), scope.request), 'a filter')

export const bindOrder = (items: readonly OrderItemSyntax[], scope: Scope): readonly OrderItem[] =>
  items.map(({ value, descending }) => ({
    value: sortable(withinLimits(bindExpression(value, scope), scope.request)),
    descending,
  }))

function sortable(value: Expression): Expression {
  const type = typeOf(value)
  if (type === null || (type.kind === 'primitive' && !isGeoName(type.name))) return value
  throw typeMismatch(`rows cannot be sorted by ${type.name}`)
}
