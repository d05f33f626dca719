// add, sub, mul, div, divby, mod and the minus sign: on numbers, dates and durations.
//
// Integers are calculated in 64 bits, and Decimals exactly: the result has the scale that it needs and up to 38 digits.
// Whether they are enough is found out by the values: a result that leaves its type fails in the engine, which the
// service answers with 400.

import { columnType } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { type Expression, typeOf } from '../bound.ts'
import { odataError } from '../../protocol/errors.ts'
import type { OperandsToSql } from './functions.ts'
import { durationMicroseconds, exactNumber } from '../../edm/literals.ts'
import { digitsOf, isFloat, isInteger, isNumber, MAX_PRECISION } from '../../edm/numbers.ts'
import type { ArithmeticOperator } from '../../syntax/syntax.ts'
import { decimalType, edm, type EdmType } from '../../edm/types.ts'
import { cast, durationConstant } from './constants.ts'

/** Null with anything is null. Throws type-mismatch, arithmetic-error. */
export function bindArithmetic(
  operator: ArithmeticOperator,
  left: Expression,
  right: Expression,
): Expression {
  const [leftType, rightType] = [typeOf(left), typeOf(right)]
  const [leftTime, rightTime] = [durationIn(left), durationIn(right)]
  if (leftTime !== null) return bindArithmetic(operator, leftTime, right)
  if (rightTime !== null) return bindArithmetic(operator, left, rightTime)
  if (leftType === null || rightType === null) {
    const type = leftType ?? rightType
    return type === null
      ? { kind: 'null' }
      : bindArithmetic(operator, typed(left, type), typed(right, type))
  }
  if (isNumber(leftType) && isNumber(rightType))
    return calculateNumbers(operator, left, right, leftType, rightType)
  if (leftType.name === 'Edm.Duration' && isNumber(rightType) && SCALING.includes(operator))
    return scaleDuration(operator, left, right)
  if (isNumber(leftType) && rightType.name === 'Edm.Duration' && operator === 'mul')
    return scaleDuration(operator, right, left)
  const times = calculateTimes(operator, leftType, rightType)
  if (times === null)
    throw odataError(
      'type-mismatch',
      `${operator} does not take ${leftType.name} and ${rightType.name}`,
    )
  return { kind: 'call', name: operator, operands: [left, right], copies: [], ...times }
}

/** OData 4.01 writes durations without their prefix too; no operator takes text. */
function durationIn(operand: Expression): Expression | null {
  if (operand.kind !== 'constant' || operand.type.name !== 'Edm.String') return null
  const microseconds = durationMicroseconds(operand.value)
  return microseconds === null ? null : durationConstant(microseconds)
}

const typed = (operand: Expression, type: EdmType): Expression =>
  operand.kind === 'null' ? { kind: 'cast', type, operand } : operand

export function bindNegation(operand: Expression): Expression {
  const type = typeOf(operand)
  if (type === null) return operand
  const isDuration = type.name === 'Edm.Duration'
  if (!isNumber(type) && !isDuration)
    throw odataError('type-mismatch', `the minus sign does not take ${type.name}`)
  const result = isInteger(type) ? edm.Int64 : type
  return {
    kind: 'call',
    name: 'negate',
    type: result,
    operands: [cast(operand, result)],
    sql: (value) => sql`(- ${value})`,
    copies: [],
  }
}

const plainOperators: Readonly<Record<ArithmeticOperator, OperandsToSql>> = {
  add: (a, b) => sql`(${a} + ${b})`,
  sub: (a, b) => sql`(${a} - ${b})`,
  mul: (a, b) => sql`(${a} * ${b})`,
  div: (a, b) => sql`(${a} / ${b})`,
  divby: (a, b) => sql`(${a} / ${b})`,
  mod: (a, b) => sql`(${a} % ${b})`,
}

function calculateNumbers(
  operator: ArithmeticOperator,
  left: Expression,
  right: Expression,
  leftType: EdmType,
  rightType: EdmType,
): Expression {
  const isDivision = operator === 'div' || operator === 'divby' || operator === 'mod'
  const areFloats = isFloat(leftType) || isFloat(rightType)
  if (
    isDivision &&
    !areFloats &&
    right.kind === 'constant' &&
    exactNumber(right.value)?.digits === 0n
  )
    throw odataError('arithmetic-error', 'division by zero')
  const areIntegers = isInteger(leftType) && isInteger(rightType)
  const type =
    areIntegers && operator !== 'divby' ? edm.Int64 : decimalResult(operator, leftType, rightType)
  const maybeMinusOne = right.kind !== 'constant' || right.value === '-1'
  const plain: OperandsToSql =
    areIntegers && operator === 'div'
      ? (a, b) => sql`(${a} // ${b})`
      : areIntegers && operator === 'mod' && maybeMinusOne
        ? integerRemainder
        : plainOperators[operator]
  // The engine makes NULL of an integer divided by zero. Null divided by zero is null.
  const needsCheck = isDivision && !areFloats && right.kind !== 'constant'
  const checked: OperandsToSql = needsCheck
    ? (a, b) =>
        sql`CASE WHEN ${b} = 0 AND ${a} IS NOT NULL THEN CAST(error('division by zero') AS ${sql.type(type.engine)}) ELSE ${plain(a, b, sql.empty)} END`
    : plain
  return {
    kind: 'call',
    name: operator,
    type,
    operands: [
      cast(left, operandType(operator, leftType, type)),
      cast(right, operandType(operator, rightType, type)),
    ],
    sql: type.name === 'Edm.Decimal' ? (a, b) => castTo(type, checked(a, b, sql.empty)) : checked,
    copies: needsCheck ? [2, 3] : [],
  }
}

/** The engine fails with the least integer modulo -1, which is 0 as any modulo 1. */
const integerRemainder: OperandsToSql = (a, b) =>
  sql`(${a} % CASE WHEN ${b} = -1 THEN 1 ELSE ${b} END)`

const castTo = (type: EdmType, value: Sql) => sql`CAST(${value} AS ${sql.type(type.engine)})`

/**
 * The Decimal with the exact scale of the result and digits for every result, as far as there are so many; a Double
 * when an operand is one, for a quotient, and when there are not even digits enough for the scale.
 */
function decimalResult(operator: ArithmeticOperator, left: EdmType, right: EdmType): EdmType {
  if (isFloat(left) || isFloat(right) || operator === 'div' || operator === 'divby')
    return edm.Double
  const [a, b] = [digitsOf(left), digitsOf(right)]
  const scale = operator === 'mul' ? a.scale + b.scale : Math.max(a.scale, b.scale)
  if (scale > MAX_PRECISION) return edm.Double
  const whole = operator === 'mul' ? a.whole + b.whole : Math.max(a.whole, b.whole) + 1
  return decimalType(Math.min(whole + scale, MAX_PRECISION), scale)
}

/** The engine takes the width in which it calculates from the operands, so they have the digits of the result. */
function operandType(operator: ArithmeticOperator, operand: EdmType, result: EdmType): EdmType {
  if (result.name !== 'Edm.Decimal') return result
  // A product has the scales of both operands.
  return operator === 'mul' ? decimalType(result.precision!, digitsOf(operand).scale) : result
}

const SCALING: readonly ArithmeticOperator[] = ['mul', 'div', 'divby']

/** A duration so many times, or the part of it, to the microsecond. */
function scaleDuration(
  operator: ArithmeticOperator,
  duration: Expression,
  factor: Expression,
): Expression {
  const scaled: OperandsToSql =
    operator === 'mul'
      ? (time, by) => sql`epoch_us(${time}) * ${by}`
      : (time, by) =>
          sql`epoch_us(${time}) / CASE WHEN ${by} = 0 THEN CAST(error('division by zero') AS DOUBLE) ELSE ${by} END`
  return {
    kind: 'call',
    name: operator,
    type: edm.Duration,
    operands: [duration, cast(factor, edm.Double)],
    sql: (time, by) => sql`to_microseconds(CAST(round(${scaled(time, by, sql.empty)}) AS BIGINT))`,
    copies: [1, 2],
  }
}

const DAYS = columnType('INTEGER')

/** By operator and types: a duration added to a date gives a date, two dates differ by a duration. */
function calculateTimes(
  operator: ArithmeticOperator,
  left: EdmType,
  right: EdmType,
): { readonly type: EdmType; readonly sql: OperandsToSql } | null {
  const plain = plainOperators[operator]
  switch (`${left.name} ${operator} ${right.name}`) {
    case 'Edm.DateTimeOffset add Edm.Duration':
    case 'Edm.DateTimeOffset sub Edm.Duration':
      return { type: edm.DateTimeOffset, sql: plain }
    case 'Edm.Date add Edm.Duration':
    case 'Edm.Date sub Edm.Duration':
      return { type: edm.Date, sql: (a, b) => castTo(edm.Date, plain(a, b, sql.empty)) }
    case 'Edm.Duration add Edm.Duration':
    case 'Edm.Duration sub Edm.Duration':
    case 'Edm.DateTimeOffset sub Edm.DateTimeOffset':
      return { type: edm.Duration, sql: plain }
    case 'Edm.Date sub Edm.Date':
      return {
        type: edm.Duration,
        sql: (a, b) => sql`to_days(CAST(${a} - ${b} AS ${sql.type(DAYS)}))`,
      }
    default:
      return null
  }
}
