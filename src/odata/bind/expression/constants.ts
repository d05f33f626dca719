// Constants: literals of the narrowest type that their form allows, and values as those of another type. Meeting a property, a
// literal takes the type of that.

import { type Constant, type Expression, typeOf, constant, NULL } from '../bound.ts'
import {
  durationMicroseconds,
  exactNumber,
  printExact,
  toDouble,
  binaryHex,
  dateTimeValue,
  dateValue,
  timeValue,
} from '../../edm/literals.ts'
import type { GeoSurface } from '../../edm/geo.ts'
import { geoLiteral } from '../../edm/geo-literals.ts'
import { isExact, isNumberType, literalType } from '../../edm/numbers.ts'
import { edm, type EdmType } from '../../edm/types.ts'
import { typeMismatch, invalidValue } from '../../protocol/errors.ts'
import type { LiteralSyntax } from '../../syntax/syntax.ts'

export const booleanConstant = (value: boolean) => constant(edm.Boolean, String(value))

export const wholeNumber = (value: number) => constant(edm.Int64, String(value))

/** `operand` as a value of `type`, which holds all its values. */
export function cast(operand: Expression, type: EdmType): Expression {
  if (operand.kind === 'null' || typeOf(operand)?.engine === type.engine) return operand
  if (operand.kind !== 'constant') return { kind: 'cast', type, operand }
  const { value } = operand
  if (type.name === 'Edm.DateTimeOffset') return constant(type, `${value} 00:00:00`)
  if (type.name === 'Edm.Duration') return durationConstant(durationMicroseconds(value)!)
  return constant(type, isNumberType(type) ? numberText(value, type) : value)
}

export const durationConstant = (microseconds: bigint) =>
  constant(edm.Duration, `${microseconds} microseconds`)

/** The text that DuckDB reads: exact types without an exponent, doubles with its names for the infinities. */
function numberText(text: string, type: EdmType): string {
  const number = isExact(type) ? exactNumber(text) : null
  return number === null ? String(toDouble(text)) : printExact(number)
}

/** `user` needs a boolean expression; the literal null is one whose value is unknown. */
export function asCondition(expression: Expression, user: string): Expression {
  const type = typeOf(expression)
  if (type === null || type.name === 'Edm.Boolean') return expression
  throw typeMismatch(`${user} needs a Boolean expression, not ${type.name}`)
}

export function bindLiteral({ form, text, at }: LiteralSyntax): Expression {
  if (form === 'geography') return placeOf('Geography', text, at)
  if (form === 'geometry') return placeOf('Geometry', text, at)
  const value = valueOf[form](text)
  return value.kind === 'constant' && value.value !== text ? { ...value, written: text } : value
}

function placeOf(surface: GeoSurface, text: string, at: number): Constant {
  const place = geoLiteral(surface, text, at + `${surface}'`.length)
  return { ...constant(place.type, place.text), written: text }
}

type PlainForm = Exclude<LiteralSyntax['form'], 'geography' | 'geometry'>

const valueOf: Readonly<Record<PlainForm, (text: string) => Expression>> = {
  null: () => NULL,
  boolean: (text) => constant(edm.Boolean, text),
  number: (text) => bindNumber(text),
  string: (text) => constant(edm.String, text),
  date: (text) => constant(edm.Date, dateValue(text)),
  'date-time': (text) => constant(edm.DateTimeOffset, dateTimeValue(text)),
  'time-of-day': (text) => constant(edm.TimeOfDay, timeValue(text)),
  guid: (text) => constant(edm.Guid, text),
  duration(text) {
    const microseconds = durationMicroseconds(text)
    if (microseconds === null) throw invalid(text, 'a duration such as P1DT2H')
    return durationConstant(microseconds)
  },
  binary(text) {
    const hex = binaryHex(text)
    if (hex === null) throw invalid(text, 'base64url text')
    return constant(edm.Binary, hex)
  },
  // The prefix names a type that this service shows as String or as an integer.
  enum: (text) => constant(edm.String, text),
}

/** Digits that a double would lose are preserved: compared with a Decimal, they count. */
function bindNumber(text: string): Constant {
  const type = literalType(text)
  const number = isExact(type) ? exactNumber(text) : null
  if (number !== null) return constant(type, printExact(number))
  const isWord = /[A-Z]{3}/.test(text)
  return constant(type, isWord ? String(toDouble(text)) : text)
}

const invalid = (text: string, expected: string) =>
  invalidValue(`"${text.slice(0, 60)}" is not ${expected}`)
