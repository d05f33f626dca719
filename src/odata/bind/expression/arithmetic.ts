// add, sub, mul, div, divby, mod and the minus sign: on numbers, dates and durations.
//
// Integers are calculated in 64 bits, and Decimals exactly: the result has the scale that it needs and up to 38 digits.
// Whether they suffice depends on the values: a result out of range of its type fails in DuckDB, which the
// service answers with 400.

import { type Expression, typeOf, call, NULL } from '../bound.ts'
import { odataError, typeMismatch } from '../../protocol/errors.ts'
import type { CallName } from './functions.ts'
import { durationMicroseconds, exactNumber } from '../../edm/literals.ts'
import { digitsOf, isFloat, isInteger, isNumberType, MAX_PRECISION } from '../../edm/numbers.ts'
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
    return type === null ? NULL : bindArithmetic(operator, typed(left, type), typed(right, type))
  }
  if (isNumberType(leftType) && isNumberType(rightType))
    return calculateNumbers(operator, left, right)
  if (leftType.name === 'Edm.Duration' && isNumberType(rightType) && SCALING.includes(operator))
    return scaleDuration(operator, left, right)
  if (isNumberType(leftType) && rightType.name === 'Edm.Duration' && operator === 'mul')
    return scaleDuration(operator, right, left)
  const times = timeCalls[`${leftType.name} ${operator} ${rightType.name}`]
  if (times === undefined) {
    const isOfTime = leftType.name === 'Edm.DateTimeOffset' || leftType.name === 'Edm.Date'
    const days = right.kind === 'constant' && isInteger(rightType) && isOfTime ? right.value : null
    const hint = days === null ? '' : `; for ${days} days write duration'P${days}D'`
    throw typeMismatch(`${operator} does not take ${leftType.name} and ${rightType.name}${hint}`)
  }
  return { kind: 'call', operands: [left, right], ...times }
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
  if (!isNumberType(type) && !isDuration)
    throw typeMismatch(`the minus sign does not take ${type.name}`)
  const result = isInteger(type) ? edm.Int64 : type
  return call('negate', result, cast(operand, result))
}

function calculateNumbers(operator: ArithmeticOperator, left: Expression, right: Expression) {
  const [leftType, rightType] = [typeOf(left)!, typeOf(right)!]
  const isDivision = operator === 'div' || operator === 'divby' || operator === 'mod'
  const isExactDivision = isDivision && !isFloat(leftType) && !isFloat(rightType)
  const divisor = right.kind === 'constant' ? exactNumber(right.value) : null
  if (isExactDivision && divisor?.digits === 0n)
    throw odataError('arithmetic-error', 'division by zero')
  const areIntegers = isInteger(leftType) && isInteger(rightType)
  const type =
    areIntegers && operator !== 'divby' ? edm.Int64 : decimalResult(operator, leftType, rightType)
  // DuckDB makes NULL of an integer divided by zero. Null divided by zero is null.
  const isChecked = isExactDivision && right.kind !== 'constant'
  const isMinusOne = right.kind === 'constant' && right.value === '-1'
  return call(
    numberCall(operator, type, { areIntegers, isChecked, isMinusOne }),
    type,
    cast(left, operandType(operator, leftType, type)),
    cast(right, operandType(operator, rightType, type)),
  )
}

interface Operands {
  readonly areIntegers: boolean
  readonly isChecked: boolean
  /** Whether the right one is the number -1. */
  readonly isMinusOne: boolean
}

function numberCall(
  operator: ArithmeticOperator,
  result: EdmType,
  { areIntegers, isChecked, isMinusOne }: Operands,
): CallName {
  const isExact = result.name === 'Edm.Decimal'
  switch (operator) {
    case 'add':
      return isExact ? 'exactAdd' : 'add'
    case 'sub':
      return isExact ? 'exactSub' : 'sub'
    case 'mul':
      return isExact ? 'exactMul' : 'mul'
    case 'div':
      if (areIntegers) return isChecked ? 'checkedWholeDiv' : 'wholeDiv'
      return isChecked ? 'checkedDiv' : 'div'
    case 'divby':
      return isChecked ? 'checkedDiv' : 'div'
    case 'mod':
      if (isExact) return isChecked ? 'checkedExactMod' : 'exactMod'
      if (areIntegers && (isChecked || isMinusOne)) return 'checkedWholeMod'
      return isChecked ? 'checkedMod' : 'mod'
  }
}

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

/** DuckDB takes the width in which it calculates from the operands, so they have the digits of the result. */
function operandType(operator: ArithmeticOperator, operand: EdmType, result: EdmType): EdmType {
  if (result.name !== 'Edm.Decimal') return result
  // A product has the scales of both operands.
  return operator === 'mul' ? decimalType(result.precision!, digitsOf(operand).scale) : result
}

const SCALING: readonly ArithmeticOperator[] = ['mul', 'div', 'divby']

/** A duration so many times, or the part of it, to the microsecond. */
function scaleDuration(operator: ArithmeticOperator, duration: Expression, factor: Expression) {
  return call(
    operator === 'mul' ? 'durationMul' : 'durationDiv',
    edm.Duration,
    duration,
    cast(factor, edm.Double),
  )
}

/** By types and operator: a duration added to a date gives a date, two dates differ by a duration. */
const timeCalls: Readonly<Record<string, { readonly name: CallName; readonly type: EdmType }>> = {
  'Edm.DateTimeOffset add Edm.Duration': { name: 'timeAdd', type: edm.DateTimeOffset },
  'Edm.DateTimeOffset sub Edm.Duration': { name: 'timeSub', type: edm.DateTimeOffset },
  'Edm.Date add Edm.Duration': { name: 'dateAdd', type: edm.Date },
  'Edm.Date sub Edm.Duration': { name: 'dateSub', type: edm.Date },
  'Edm.Duration add Edm.Duration': { name: 'add', type: edm.Duration },
  'Edm.Duration sub Edm.Duration': { name: 'sub', type: edm.Duration },
  'Edm.DateTimeOffset sub Edm.DateTimeOffset': { name: 'sub', type: edm.Duration },
  'Edm.Date sub Edm.Date': { name: 'daysBetween', type: edm.Duration },
}
