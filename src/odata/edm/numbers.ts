// Numeric types: their ranges, and the type in which two numbers meet.

import type { ColumnType } from '../../core/relation.ts'
import { exactNumber } from './literals.ts'
import { decimalType, edm, type EdmType } from './types.ts'

const INTEGER_NAMES = ['Edm.Byte', 'Edm.SByte', 'Edm.Int16', 'Edm.Int32', 'Edm.Int64'] as const

export const isInteger = ({ name }: EdmType) => (INTEGER_NAMES as readonly string[]).includes(name)
export const isFloat = ({ name }: EdmType) => name === 'Edm.Double' || name === 'Edm.Single'
export const isExact = (type: EdmType) => isInteger(type) || type.name === 'Edm.Decimal'
export const isNumberType = (type: EdmType) => isExact(type) || isFloat(type)

interface ExactRange {
  /** In units of ten to the minus `scale`. */
  readonly min: bigint
  readonly max: bigint
  readonly scale: number
}

const integerBits: Readonly<Record<string, bigint>> = {
  TINYINT: 8n,
  SMALLINT: 16n,
  INTEGER: 32n,
  BIGINT: 64n,
  HUGEINT: 128n,
}

/** What DuckDB can hold in a column of an exact type. */
export function exactRange({ engine, precision, scale }: EdmType): ExactRange {
  const bits = integerBits[engine]
  if (bits !== undefined)
    return { min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n, scale: 0 }
  if (engine === ('UHUGEINT' as ColumnType)) return { min: 0n, max: 2n ** 128n - 1n, scale: 0 }
  const max = 10n ** BigInt(precision ?? 38) - 1n
  return { min: -max, max, scale: scale ?? 0 }
}

/** The narrowest type for a literal that meets no column: an integer, a Decimal (5.0 is one), or a Double. */
export function literalType(text: string): EdmType {
  const number = exactNumber(text)
  if (number === null || /e/i.test(text)) return edm.Double
  const fits = (type: EdmType) => {
    const { min, max } = exactRange(type)
    return !text.includes('.') && number.digits >= min && number.digits <= max
  }
  if (fits(edm.Int32)) return edm.Int32
  if (fits(edm.Int64)) return edm.Int64
  const digits = String(number.digits).replace('-', '').length
  const precision = Math.max(digits, number.scale)
  return precision <= MAX_PRECISION ? decimalType(precision, number.scale) : edm.Double
}

export const MAX_PRECISION = 38

const integerDigits: Readonly<Record<string, number>> = {
  'Edm.Byte': 3,
  'Edm.SByte': 3,
  'Edm.Int16': 5,
  'Edm.Int32': 10,
  'Edm.Int64': 19,
}

/** Digits before and after the point. */
export function digitsOf(type: EdmType): { readonly whole: number; readonly scale: number } {
  const scale = type.scale ?? 0
  return { whole: integerDigits[type.name] ?? (type.precision ?? MAX_PRECISION) - scale, scale }
}

/** The type in which two numbers can be compared without loss, or with the loss of a double when there is none. */
export function commonNumericType(a: EdmType, b: EdmType): EdmType {
  if (a.engine === b.engine) return a
  if (isFloat(a) || isFloat(b)) return edm.Double
  if (isInteger(a) && isInteger(b)) return exactRange(a).max > exactRange(b).max ? a : b
  const [left, right] = [digitsOf(a), digitsOf(b)]
  const scale = Math.max(left.scale, right.scale)
  const precision = Math.max(left.whole, right.whole) + scale
  return precision <= MAX_PRECISION ? decimalType(precision, scale) : edm.Double
}
