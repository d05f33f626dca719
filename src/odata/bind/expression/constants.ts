// Constants, and values as those of another type.

import { type Constant, type Expression, typeOf } from '../bound.ts'
import { durationMicroseconds, exactNumber, printExact, toDouble } from '../../edm/literals.ts'
import { isExact, isNumber } from '../../edm/numbers.ts'
import { edm, type EdmType } from '../../edm/types.ts'
import { odataError } from '../../protocol/errors.ts'

export const booleanConstant = (value: boolean): Constant => ({
  kind: 'constant',
  type: edm.Boolean,
  value: String(value),
})

export const wholeNumber = (value: number): Constant => ({
  kind: 'constant',
  type: edm.Int64,
  value: String(value),
})

/** `operand` as a value of `type`, which holds all its values. */
export function cast(operand: Expression, type: EdmType): Expression {
  if (operand.kind === 'null' || typeOf(operand)?.engine === type.engine) return operand
  if (operand.kind !== 'constant') return { kind: 'cast', type, operand }
  const { value } = operand
  if (type.name === 'Edm.DateTimeOffset')
    return { kind: 'constant', type, value: `${value} 00:00:00` }
  if (type.name === 'Edm.Duration') return durationConstant(durationMicroseconds(value)!)
  return { kind: 'constant', type, value: isNumber(type) ? numberText(value, type) : value }
}

export const durationConstant = (microseconds: bigint): Constant => ({
  kind: 'constant',
  type: edm.Duration,
  value: `${microseconds} microseconds`,
})

/** As DuckDB reads it: exact types without an exponent, doubles with its names for the infinities. */
function numberText(text: string, type: EdmType): string {
  const number = isExact(type) ? exactNumber(text) : null
  return number === null ? String(toDouble(text)) : printExact(number)
}

/** `user` needs a boolean expression; the literal null is one whose value is unknown. */
export function asCondition(expression: Expression, user: string): Expression {
  const type = typeOf(expression)
  if (type === null || type.name === 'Edm.Boolean') return expression
  throw odataError('type-mismatch', `${user} needs a Boolean expression, not ${type.name}`)
}
