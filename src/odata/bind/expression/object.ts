// JSON objects in expressions (ABNF, arrayOrObject): `address eq {"city":"Rome","zip":100}`. An object has no type of its
// own, so each property of the complex value is compared separately; a property that the object leaves out is null.

import { bindComparison } from './comparison.ts'
import { type Expression, typeOf } from '../bound.ts'
import { odataError } from '../../protocol/errors.ts'
import { dateTimeValue, dateValue, timeValue } from '../../edm/literals.ts'
import type { ComparisonOperator } from '../../syntax/syntax.ts'
import { type ComplexType, edm, type EdmType } from '../../edm/types.ts'
import { booleanConstant, wholeNumber } from './constants.ts'
import { findPart } from '../scope.ts'

type ObjectExpression = Expression & { readonly kind: 'object' }

export const isObject = (expression: Expression): expression is ObjectExpression =>
  expression.kind === 'object'

/** A collection that the request writes out, with an object in it. */
export const holdsObject = (expression: Expression): boolean =>
  expression.kind === 'array' &&
  expression.items.some((item) => isObject(item) || holdsObject(item))

/** One side is an object. Throws type-mismatch, unknown-property. */
export function compareWithObject(
  operator: ComparisonOperator,
  left: Expression,
  right: Expression,
): Expression {
  if (isObject(left) && !isObject(right)) return compareWithObject(operator, right, left)
  const type = typeOf(left)
  if (type === null) return booleanConstant(operator === 'ne')
  if (operator !== 'eq' && operator !== 'ne')
    throw odataError('type-mismatch', `cannot compare objects by ${operator}`)
  if (type.kind !== 'complex' || isObject(left) || !isObject(right))
    throw odataError('type-mismatch', 'a JSON object can only be compared with a complex property')
  const isSame = sameAs(left, type, right)
  return operator === 'eq' ? isSame : { kind: 'not', operand: isSame }
}

function sameAs(value: Expression, type: ComplexType, { members }: ObjectExpression): Expression {
  for (const { name, at } of members) findPart(type, name, at)
  const operands = type.properties.map(({ name, type: partType }): Expression => {
    const part: Expression = { kind: 'member', type: partType, of: value, name }
    const given = members.find((member) => member.name === name)?.value
    if (given !== undefined) return bindComparison('eq', part, inJson(given, partType))
    const nothing: Expression =
      partType.kind === 'collection'
        ? { kind: 'array', type: partType, items: [] }
        : { kind: 'null' }
    return bindComparison('eq', part, nothing)
  })
  const isThere: Expression = {
    kind: 'compare',
    operator: 'ne',
    left: value,
    right: { kind: 'null' },
  }
  return { kind: 'logical', operator: 'and', operands: [isThere, ...operands] }
}

/** Item by item, where `list` has as many. */
export function compareWithObjects(
  list: Expression,
  { items }: Expression & { readonly kind: 'array' },
): Expression {
  const type = typeOf(list)
  if (type?.kind !== 'collection') throw new Error('objects can only be compared with a collection')
  const length: Expression = {
    kind: 'call',
    type: edm.Boolean,
    name: 'hasLength',
    operands: [list, wholeNumber(items.length)],
  }
  const operands = items.map((item, i): Expression => {
    const own: Expression = {
      kind: 'call',
      type: type.item,
      name: 'itemAt',
      operands: [list, wholeNumber(i + 1)],
    }
    return bindComparison('eq', own, item)
  })
  return { kind: 'logical', operator: 'and', operands: [length, ...operands] }
}

/** JSON has texts for dates, times and GUIDs. */
function inJson(value: Expression, type: EdmType): Expression {
  if (value.kind !== 'constant' || value.type.name !== 'Edm.String') return value
  const as = (text: string): Expression => ({ kind: 'constant', type, value: text })
  switch (type.name) {
    case 'Edm.Date':
      return as(dateValue(value.value))
    case 'Edm.DateTimeOffset':
      return as(dateTimeValue(value.value))
    case 'Edm.TimeOfDay':
      return as(timeValue(value.value))
    case 'Edm.Guid':
      if (GUID.test(value.value)) return as(value.value)
      throw odataError('invalid-value', `"${value.value.slice(0, 60)}" is not a GUID`)
    default:
      return value
  }
}

const GUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
