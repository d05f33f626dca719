// Comparisons. A literal takes the type of what it is compared with, here and exactly, so that DuckDB compares
// values of one type and cannot fail: a number that the column cannot hold is still less or greater than it.

import {
  type Constant,
  type Expression,
  typeOf,
  call,
  constant,
  compare,
  NULL,
  not,
  and,
} from '../bound.ts'
import { unsupported, typeMismatch, invalidValue } from '../../protocol/errors.ts'
import {
  durationMicroseconds,
  exactNumber,
  floorToScale,
  printExact,
  toDouble,
  dateTimeValue,
  dateValue,
  timeValue,
} from '../../edm/literals.ts'
import { isGeoName } from '../../edm/geo.ts'
import { commonNumericType, exactRange, isExact, isNumberType } from '../../edm/numbers.ts'
import type { ComparisonOperator } from '../../syntax/syntax.ts'
import {
  collectionOf,
  type CollectionType,
  edm,
  type EdmType,
  type ComplexType,
} from '../../edm/types.ts'
import { booleanConstant, cast, wholeNumber } from './constants.ts'
import { findPart } from '../scope.ts'

/** Throws type-mismatch when values of the two types cannot be compared. */
export function bindComparison(
  operator: ComparisonOperator,
  left: Expression,
  right: Expression,
): Expression {
  if (isObject(left) || isObject(right)) return compareWithObject(operator, left, right)
  const [leftType, rightType] = [typeOf(left), typeOf(right)]
  if (leftType === null) {
    if (rightType === null) return booleanConstant(operator === 'eq')
    return compareWithNull(operator, right)
  }
  if (rightType === null) return compareWithNull(operator, left)
  if (left.kind === 'constant' && right.kind !== 'constant')
    return bindComparison(mirrored[operator], right, left)
  if (isNumberType(leftType) && isNumberType(rightType)) {
    if (right.kind === 'constant') return compareWithNumber(operator, left, right)
    const type = commonNumericType(leftType, rightType)
    return compare(operator, cast(left, type), cast(right, type))
  }
  if (leftType.kind === 'collection' && rightType.kind === 'collection')
    return compareCollections(operator, left, right)
  const type = commonType(left, right)
  const isEquality = operator === 'eq' || operator === 'ne'
  if (type === null || (type.kind === 'complex' && !isEquality))
    throw cannotCompare(operator, left, right)
  return compare(operator, cast(left, type), cast(right, type))
}

const mirrored: Readonly<Record<ComparisonOperator, ComparisonOperator>> = {
  eq: 'eq',
  ne: 'ne',
  gt: 'lt',
  ge: 'le',
  lt: 'gt',
  le: 'ge',
}

function compareWithNull(operator: ComparisonOperator, operand: Expression): Expression {
  const isEquality = operator === 'eq' || operator === 'ne'
  return isEquality ? compare(operator, operand, NULL) : booleanConstant(false)
}

const isNotNull = (operand: Expression) => compare('ne', operand, NULL)

/** The type of both sides, when they are not numbers. */
function commonType(leftValue: Expression, rightValue: Expression): EdmType | null {
  const [left, right] = [typeOf(leftValue)!, typeOf(rightValue)!]
  // OData has no equality of places: two may be equal and written in other words.
  if (isGeoName(left.name) || isGeoName(right.name)) return null
  if (left.name === right.name) return left
  if (left.kind !== 'primitive' || right.kind !== 'primitive') return null
  const names = [left.name, right.name]
  // A date stands for its midnight in UTC.
  if (names.includes('Edm.Date') && names.includes('Edm.DateTimeOffset')) return edm.DateTimeOffset
  // OData 4.01 writes durations without their prefix too.
  const isDuration = (value: Expression) =>
    value.kind === 'constant' &&
    value.type.name === 'Edm.String' &&
    durationMicroseconds(value.value) !== null
  if (left.name === 'Edm.Duration' && isDuration(rightValue)) return left
  if (right.name === 'Edm.Duration' && isDuration(leftValue)) return right
  return null
}

/** Collections are equal when they have equal items in the same order. Collections that are written out are compared here. */
function compareCollections(
  operator: ComparisonOperator,
  left: Expression,
  right: Expression,
): Expression {
  if (operator === 'ne') return not(compareCollections('eq', left, right))
  if (operator !== 'eq')
    throw typeMismatch(`cannot compare collections by ${operator}; eq and ne can`)
  if (left.kind === 'array' && right.kind === 'array') {
    if (left.items.length !== right.items.length) return booleanConstant(false)
    const operands = left.items.map((item, i) => bindComparison('eq', item, right.items[i]!))
    return operands.length === 0 ? booleanConstant(true) : and(operands)
  }
  if (right.kind === 'array' && holdsObject(right)) return compareWithObjects(left, right)
  if (left.kind === 'array' && holdsObject(left)) return compareWithObjects(right, left)
  const [a, b] = sameCollections(left, right)
  return compare('eq', a, b)
}

/** Both as collections of one type. Throws type-mismatch when their items have nothing in common. */
export function sameCollections(
  left: Expression,
  right: Expression,
): readonly [Expression, Expression] {
  if (holdsObject(left) || holdsObject(right)) throw unsupported('a JSON object in a function')
  const type = commonCollection(left, right)
  return [cast(left, type), cast(right, type)]
}

function commonCollection(left: Expression, right: Expression): CollectionType {
  const [a, b] = [typeOf(left) as CollectionType, typeOf(right) as CollectionType]
  if (isWithoutType(right) || a.name === b.name) return a
  if (isWithoutType(left)) return b
  if (isNumberType(a.item) && isNumberType(b.item)) {
    const item = commonNumericType(a.item, b.item)
    if (item.kind !== 'collection') return collectionOf(item)
  }
  throw typeMismatch(`${a.name} and ${b.name} have no items in common`)
}

/** `[]` and `[null]` are collections of anything. */
const isWithoutType = (list: Expression) =>
  list.kind === 'array' && list.items.every((item) => typeOf(item) === null)

function compareWithNumber(operator: ComparisonOperator, left: Expression, { value }: Constant) {
  const type = typeOf(left)!
  const double = toDouble(value)
  // NaN is equal to nothing, not even to itself, and neither greater nor less.
  const isNaN = left.kind === 'constant' && Number.isNaN(toDouble(left.value))
  if (isNaN || Number.isNaN(double)) return booleanConstant(operator === 'ne')
  if (isExact(type)) return compareExact(operator, left, type, value)
  const isOutside = Number.isFinite(double) && !Number.isFinite(Math.fround(double))
  const common = type.name === 'Edm.Single' && isOutside ? edm.Double : type
  return compare(operator, cast(left, common), constant(common, String(double)))
}

function compareExact(operator: ComparisonOperator, left: Expression, type: EdmType, text: string) {
  const { min, max, scale } = exactRange(type)
  const number = exactNumber(text)
  const { units, exact } =
    number === null
      ? { units: toDouble(text) > 0 ? max + 1n : min - 1n, exact: false }
      : floorToScale(number, scale)
  if (operator === 'eq' || operator === 'ne') {
    if (!exact || units < min || units > max) return booleanConstant(operator === 'ne')
  } else if (units < min || units > max) {
    const isAbove = units > max
    const isLess = operator === 'lt' || operator === 'le'
    return isAbove === isLess ? isNotNull(left) : booleanConstant(false)
  }
  const value = printExact({ digits: units, scale })
  // Between two values of the column: greater than the one above is at least, less than is at most, the one below.
  const inexact: ComparisonOperator = operator === 'ge' ? 'gt' : operator === 'lt' ? 'le' : operator
  return compare(exact ? operator : inexact, left, constant(type, value))
}

type ObjectExpression = Expression & { readonly kind: 'object' }

const isObject = (expression: Expression): expression is ObjectExpression =>
  expression.kind === 'object'

/** A collection that the request writes out, with an object in it. */
const holdsObject = (expression: Expression): boolean =>
  expression.kind === 'array' &&
  expression.items.some((item) => isObject(item) || holdsObject(item))

/** One side is an object. Throws type-mismatch, unknown-property. */
function compareWithObject(operator: ComparisonOperator, left: Expression, right: Expression) {
  if (isObject(left) && !isObject(right)) return compareWithObject(operator, right, left)
  const type = typeOf(left)
  if (type === null) return booleanConstant(operator === 'ne')
  if (operator !== 'eq' && operator !== 'ne')
    throw typeMismatch(`cannot compare objects by ${operator}`)
  if (type.kind !== 'complex' || isObject(left) || !isObject(right))
    throw typeMismatch('a JSON object can only be compared with a complex property')
  const isSame = sameAs(left, type, right)
  return operator === 'eq' ? isSame : not(isSame)
}

function sameAs(value: Expression, type: ComplexType, { members }: ObjectExpression): Expression {
  for (const { name, at } of members) findPart(type, name, at)
  const operands = type.properties.map(({ name, type: partType }): Expression => {
    const part: Expression = { kind: 'member', type: partType, of: value, name }
    const given = members.find((member) => member.name === name)?.value
    if (given !== undefined) return bindComparison('eq', part, inJson(given, partType))
    const nothing: Expression =
      partType.kind === 'collection' ? { kind: 'array', type: partType, items: [] } : NULL
    return bindComparison('eq', part, nothing)
  })
  const isThere = compare('ne', value, NULL)
  return and([isThere, ...operands])
}

/** Item by item, where `list` has as many. */
function compareWithObjects(list: Expression, { items }: Expression & { readonly kind: 'array' }) {
  const type = typeOf(list)
  if (type?.kind !== 'collection') throw new Error('objects can only be compared with a collection')
  const length: Expression = call('hasLength', edm.Boolean, list, wholeNumber(items.length))
  const operands = items.map((item, i): Expression => {
    const own: Expression = call('itemAt', type.item, list, wholeNumber(i + 1))
    return bindComparison('eq', own, item)
  })
  return and([length, ...operands])
}

/** JSON has texts for dates, times and GUIDs. */
function inJson(value: Expression, type: EdmType): Expression {
  if (value.kind !== 'constant' || value.type.name !== 'Edm.String') return value
  const as = (text: string) => constant(type, text)
  switch (type.name) {
    case 'Edm.Date':
      return as(dateValue(value.value))
    case 'Edm.DateTimeOffset':
      return as(dateTimeValue(value.value))
    case 'Edm.TimeOfDay':
      return as(timeValue(value.value))
    case 'Edm.Guid':
      if (GUID.test(value.value)) return as(value.value)
      throw invalidValue(`"${value.value.slice(0, 60)}" is not a GUID`)
    default:
      return value
  }
}

const GUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

// Messages for incompatible types. Most often a value is quoted that should not be.

function cannotCompare(operator: ComparisonOperator, left: Expression, right: Expression) {
  const [leftType, rightType] = [typeOf(left), typeOf(right)]
  const words = `cannot compare ${leftType?.name} with ${rightType?.name} by ${operator}`
  const known = quotedValue(left, right) ?? quotesMissing(left, right) ?? otherForm(left, right)
  return typeMismatch(known ?? words)
}

interface PlainValue {
  readonly words: string
  /** What the text means without quotes; null when it means nothing of the type. */
  readonly today: (text: string) => string | null
  readonly example: string
}

const when =
  (pattern: RegExp, show = (text: string) => text) =>
  (text: string) =>
    pattern.test(text) ? show(text) : null

const DAY = String.raw`^\d{4}-\d\d-\d\d`
const NUMBER: PlainValue = { words: 'a number', today: when(/^-?\d+(\.\d+)?$/), example: '5' }

const unquotedOf: Readonly<Record<string, PlainValue>> = {
  'Edm.DateTimeOffset': {
    words: 'a time',
    today: when(new RegExp(`${DAY}(?:$|[T ])`), (text) => {
      const [day = '', clock = '00:00:00Z'] = text.split(/[T ]/)
      return `${day}T${clock}${/z$|[-+]\d\d:\d\d$/i.test(clock) ? '' : 'Z'}`
    }),
    example: '2026-01-01T00:00:00Z',
  },
  'Edm.Date': { words: 'a date', today: when(new RegExp(`${DAY}$`)), example: '2026-01-01' },
  'Edm.TimeOfDay': { words: 'a time of day', today: when(/^\d\d:\d\d/), example: '10:30:00' },
  'Edm.Guid': {
    words: 'a GUID',
    today: when(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i),
    example: '01234567-89ab-cdef-0123-456789abcdef',
  },
  'Edm.Boolean': {
    words: 'true or false',
    today: when(/^(?:true|false)$/i, (text) => text.toLowerCase()),
    example: 'true',
  },
}

const unquoted = (type: EdmType) => (isNumberType(type) ? NUMBER : unquotedOf[type.name])

/** `amount gt '5'` */
function quotedValue(left: Expression, right: Expression): string | null {
  const type = typeOf(left)
  if (left.kind === 'constant' || right.kind !== 'constant' || type === null) return null
  const expected = right.type.name === 'Edm.String' ? unquoted(type) : undefined
  if (expected === undefined) return null
  const today = expected.today(right.value)
  const value = today === null ? `, such as ${expected.example}` : `: ${today}`
  const name = left.kind === 'property' ? left.property.name : 'what it is compared with'
  return `${name} is ${expected.words}; write it without quotes${value}`
}

/** `status eq 5` */
function quotesMissing(left: Expression, right: Expression): string | null {
  if (left.kind !== 'property' || right.kind !== 'constant') return null
  if (left.type.name !== 'Edm.String' || right.type.name === 'Edm.String') return null
  return `${left.property.name} is text; write '${(right.written ?? right.value).slice(0, 60)}' in single quotes`
}

/** `active eq 1`, `day eq 20260131` */
function otherForm(left: Expression, right: Expression): string | null {
  if (left.kind !== 'property' || right.kind !== 'constant' || !isNumberType(right.type))
    return null
  const expected = unquotedOf[left.type.name]
  if (expected === undefined) return null
  const { name } = left.type
  const digits = right.written ?? right.value
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(digits) ?? []
  const today =
    name === 'Edm.Boolean' && /^[01]$/.test(digits)
      ? String(digits === '1')
      : name === 'Edm.Date' && year !== undefined
        ? `${year}-${month}-${day}`
        : `a value such as ${expected.example}`
  return `${left.property.name} is ${expected.words}; write ${today}`
}
