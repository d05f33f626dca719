// The key of one entity: `(7)`, `('a')`, `(a=1,b='x')` (URL conventions 4.01, 4.3).

import { bindComparison } from './comparison.ts'
import { bindExpression } from './expression.ts'
import { type Expression, propertyOf } from '../bound.ts'
import { odataError } from '../../protocol/errors.ts'
import { withTarget } from '../../syntax/parse-option.ts'
import type { Scope } from '../scope.ts'
import type { ExpressionSyntax, KeySyntax } from '../../syntax/syntax.ts'
import type { EntityType, Property } from '../../edm/model.ts'

/**
 * The condition that holds for the entity with that key, and for no other. `implied` is a part of the key that the path
 * gives already, as `orders(7)/items` gives `order_id`; it may be left out.
 */
export function bindKey(key: KeySyntax, scope: Scope, implied: Property | null = null): Expression {
  return withTarget('the key', () => {
    const { type } = scope.row.set
    const conditions = keyValues(key, type, implied).map(([property, syntax]): Expression => {
      const value = bindExpression(syntax, scope)
      if (value.kind !== 'constant')
        throw odataError('invalid-key', `${property.name} must have a value that is not null`)
      return bindComparison('eq', propertyOf(scope.row, property), value)
    })
    return { kind: 'logical', operator: 'and', operands: conditions }
  })
}

/** The parts of a key that the path does not give already. */
export const openKey = (type: EntityType, implied: Property | null): readonly Property[] =>
  type.key.length > 1 ? type.key.filter((part) => part !== implied) : type.key

function keyValues(
  key: KeySyntax,
  type: EntityType,
  implied: Property | null,
): readonly (readonly [Property, ExpressionSyntax])[] {
  const open = openKey(type, implied)
  const [first, ...more] = open
  if (first === undefined)
    throw odataError(
      'no-key',
      `${type.name} has no key: its model needs a line such as "-- @expose <column>" that names the key column`,
    )
  const names = type.key.map(({ name }) => name).join(', ')
  if (key.kind === 'value') {
    if (more.length > 0)
      throw odataError('invalid-key', `the key of ${type.name} has several parts: ${names}`)
    return [[first, key.value]]
  }
  const given = new Map(key.values.map(({ name, value }) => [name, value]))
  if (given.size !== key.values.length)
    throw odataError('invalid-key', 'a part of the key is given twice')
  const parts = given.size === open.length ? open : type.key
  if (given.size !== parts.length || !parts.every(({ name }) => given.has(name)))
    throw odataError('invalid-key', `the key of ${type.name} is ${names}`)
  return parts.map((property) => [property, given.get(property.name)!])
}
