// The key of one entity: `(7)`, `('a')`, `(a=1,b='x')` (URL conventions 4.01, 4.3).

import { bindComparison } from './comparison.ts'
import { bindExpression } from './expression.ts'
import { call, type Constant, constant, type Expression, propertyOf, and } from '../bound.ts'
import { exactNumber, toDouble } from '../../edm/literals.ts'
import { exactRange, isFloat, isInteger, isNumberType } from '../../edm/numbers.ts'
import { edm } from '../../edm/types.ts'
import { malformed, odataError } from '../../protocol/errors.ts'
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
        throw odataError('invalid-key', `${property.name} must have a value other than null`)
      requireInteger(property, value)
      const own = propertyOf(scope.row, property)
      // NaN is equal to nothing, and still the key of its row.
      if (isFloat(property.type) && Number.isNaN(toDouble(value.value)) && isNumberType(value.type))
        return call('same', edm.Boolean, own, constant(property.type, 'NaN'))
      return bindComparison('eq', own, value)
    })
    return and(conditions)
  })
}

const { min: LEAST, max: GREATEST } = exactRange(edm.Int64)

/** No key of integers is beyond 64 bits, so such a number is a mistake and not a missing entity. */
function requireInteger({ name, type }: Property, { value, type: given }: Constant): void {
  const number = isInteger(type) && isNumberType(given) ? exactNumber(value) : null
  if (number === null || number.scale > 0 || (number.digits >= LEAST && number.digits <= GREATEST))
    return
  throw odataError('invalid-key', `${name} is ${type.name}; a key is a whole number such as (5)`)
}

/** The parts of a key that the path does not give already. */
export const openKey = (type: EntityType, implied: Property | null): readonly Property[] =>
  type.key.length > 1 ? type.key.filter((part) => part !== implied) : type.key

const TARGET = 'the key'

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
      `${type.name} has no key; name its key column in the model: -- @expose <column>`,
    )
  const names = type.key.map(({ name }) => name).join(', ')
  const named = `${type.name}(${type.key.map(({ name }) => `${name}=…`).join(',')})`
  if (key.kind === 'value') {
    if (more.length > 0)
      throw odataError('invalid-key', `the key of ${type.name} has several parts: ${named}`, TARGET)
    return [[first, key.value]]
  }
  if (key.values.length === 0)
    throw malformed('the key is missing; omit the parentheses for all rows', TARGET)
  const given = new Map(key.values.map(({ name, value }) => [name, value]))
  if (given.size !== key.values.length)
    throw odataError('invalid-key', 'a part of the key is given more than once', TARGET)
  const parts = given.size === open.length ? open : type.key
  if (given.size !== parts.length || !parts.every(({ name }) => given.has(name)))
    throw odataError('invalid-key', `the key of ${type.name} is ${names}: write ${named}`, TARGET)
  return parts.map((property) => [property, given.get(property.name)!])
}
